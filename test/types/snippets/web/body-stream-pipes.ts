// The body of a response in the stream functions of the runtime.
import { createWriteStream } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { TransformStream as NodeTransform } from 'node:stream/web'
import { fetch } from 'undici'

export async function download(): Promise<number> {
  const { body, ok } = await fetch('http://a.test')
  if (!ok || body === null) throw new Error('no body')
  const [one, two] = body.tee()
  await pipeline(Readable.fromWeb(one), createWriteStream('file'))
  await two.pipeTo(Writable.toWeb(createWriteStream('file')))
  let length = 0
  const again = await fetch('http://a.test')
  if (again.body !== null) {
    for await (const chunk of again.body) length += chunk.length
    const reader = again.body.getReader()
    const { value, done } = await reader.read()
    if (!done) length += value.byteLength
    again.body.pipeThrough(new NodeTransform())
  }
  return length
}
