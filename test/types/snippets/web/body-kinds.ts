import { Readable } from 'node:stream'
import { ReadableStream as WebStream } from 'node:stream/web'
import { type BodyInit, FormData, fetch, Request, Response } from 'undici'

async function* chunks(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1)
}
const bodies: BodyInit[] = [
  'text',
  new Uint8Array(8),
  new ArrayBuffer(8),
  new DataView(new ArrayBuffer(8)),
  Buffer.from('x'),
  new Blob(['x']),
  new URLSearchParams({ a: 'b' }),
  new FormData(),
  new WebStream(),
  new ReadableStream<Uint8Array>(),
  chunks(),
  Readable.from(['x']),
]
export const responses = bodies.map((body) => new Response(body))
export const requests = bodies.map((body) => new Request('http://a.test', { method: 'PUT', body }))
export const sent = bodies.map((body) => fetch('http://a.test', { method: 'PUT', body, duplex: 'half' }))
export const nothing = [new Response(), new Response(null), new Response(undefined)]
