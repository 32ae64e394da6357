// The type of `opaque` passes through every method, and the results of a body are typed. Compiled, never run.
import { PassThrough } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { HeaderObject, ResponseData, Timings } from '../../src/index.ts'
import { Client, connect, pipeline, request, stream, upgrade } from '../../src/index.ts'
import type { Equal } from './equal.ts'

const client = new Client('http://localhost')
const get = { path: '/', method: 'GET' } as const
const opaque = { id: 7 }
type Opaque = { id: number }

export async function promises(): Promise<void> {
  const plain = await client.request(get)
  const plainIs: Equal<typeof plain, ResponseData<null>> = true
  const given = await client.request({ ...get, opaque })
  const givenIs: Equal<typeof given, ResponseData<Opaque>> = true
  const raw = await client.request({ ...get, opaque, responseHeaders: 'raw' })
  const rawIs: Equal<typeof raw.headers, string[]> = true
  const headersAre: Equal<typeof given.headers, HeaderObject> = true
  const timingsAre: Equal<typeof given.timings, Timings | null> = true
  // @ts-expect-error: a header may be missing
  const text: string | string[] = given.headers['content-type']
  // @ts-expect-error: nothing was given
  plain.opaque.id

  const global = await request('http://localhost', { opaque })
  const globalIs: Equal<typeof global.opaque, Opaque> = true
  const streamed = await client.stream({ ...get, opaque }, (data) => {
    const factoryGets: Equal<typeof data.opaque, Opaque> = true
    void factoryGets
    return new PassThrough()
  })
  const streamedIs: Equal<typeof streamed.opaque, Opaque> = true
  const globally = await stream('http://localhost', { opaque: new PassThrough() }, (data) => data.opaque)
  const globallyIs: Equal<typeof globally.opaque, PassThrough> = true
  const { opaque: tunnelled, socket } = await client.connect({ path: 'a:1', opaque })
  const tunnelledIs: Equal<typeof tunnelled, Opaque> = true
  const { opaque: switched } = await client.upgrade({ path: '/', opaque })
  const switchedIs: Equal<typeof switched, Opaque> = true
  const both = [
    (await connect('http://localhost', { opaque })).opaque.id,
    (await upgrade('http://localhost', { opaque })).opaque.id,
  ]
  void [plainIs, givenIs, rawIs, headersAre, timingsAre, text, globalIs, streamedIs, globallyIs, socket]
  void [tunnelledIs, switchedIs, both]
}

export function callbacks(): void {
  client.request({ ...get, opaque }, (error, data) => {
    const id: number | undefined = error ? undefined : data.opaque.id
    void id
  })
  client.stream(
    { ...get, opaque },
    () => new PassThrough(),
    (error, data) => void [error, data.opaque],
  )
  client.pipeline({ ...get, opaque }, (data) => {
    const handlerGets: Equal<typeof data.opaque, Opaque> = true
    void handlerGets
    return data.body
  })
  pipeline('http://localhost', { opaque }, (data) => {
    void data.opaque.id
    return data.body
  })
  // @ts-expect-error: the factory must return a Writable
  client.stream(get, () => 'nowhere')
  // @ts-expect-error: and synchronously
  client.stream(get, async () => new PassThrough())
  // @ts-expect-error: the handler must return a Readable
  client.pipeline(get, () => undefined)
}

export async function body(): Promise<void> {
  const { body } = await client.request(get)
  const text: Equal<Awaited<ReturnType<typeof body.text>>, string> = true
  const json: Equal<Awaited<ReturnType<typeof body.json>>, unknown> = true
  const bytes: Equal<Awaited<ReturnType<typeof body.bytes>>, Uint8Array<ArrayBuffer>> = true
  const buffer: Equal<Awaited<ReturnType<typeof body.arrayBuffer>>, ArrayBuffer> = true
  const web: Equal<typeof body.body, ReadableStream<Uint8Array>> = true
  const named = await body.json<{ name: string }>()
  // @ts-expect-error: otherwise the result must be narrowed before it is used
  const { name } = await body.json()
  void [text, json, bytes, buffer, web, name, named.name]
}
