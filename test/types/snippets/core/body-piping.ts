import { createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { buffer, json, text } from 'node:stream/consumers'
import { finished, pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type Dispatcher, fetch, request, stream, pipeline as undiciPipeline } from 'undici'
export async function save(body: Dispatcher.ResponseData['body'], file: string) {
  await pipeline(body, createGunzip(), createWriteStream(file))
  await finished(body)
  body.pipe(new Transform()).pipe(createWriteStream(file))
  for await (const chunk of body) console.log(chunk.length)
  await text(body)
  await json(body)
  await buffer(body)
  body
    .on('data', (c: Buffer) => c.length)
    .once('end', () => {})
    .setEncoding('utf8')
  const bytes: Uint8Array = await body.bytes()
  const ab: ArrayBuffer = await body.arrayBuffer()
  const blob = await body.blob()
  blob.stream()
  await body.dump({ limit: 10, signal: AbortSignal.timeout(1) })
  const r: Readable = body
  return [bytes, ab, body.bodyUsed, r]
}
export async function st(url: URL) {
  const { opaque } = await stream(url, { method: 'GET', opaque: { file: 'x' } }, ({ opaque, statusCode }) =>
    createWriteStream(opaque.file + statusCode),
  )
  const chunks: unknown[] = []
  undiciPipeline(url, { method: 'POST' }, ({ body, headers, statusCode }) => {
    console.log(headers, statusCode)
    return pipelineThrough(body)
  })
    .end('x')
    .on('data', (c) => chunks.push(c))
  const res = await fetch(url)
  if (res.body) {
    Readable.fromWeb(res.body).pipe(createWriteStream('x'))
    for await (const c of res.body) console.log(c)
  }
  const { body } = await request(url, { body: Readable.from(['a']), method: 'POST' })
  return [opaque.file, await body.text()]
}
const pipelineThrough = (b: Readable): Readable => b
