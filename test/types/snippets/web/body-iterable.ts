import { fetch, Response } from 'undici'

function* chunks(): Generator<Uint8Array> {
  yield new Uint8Array(1)
}
export const sent = fetch('http://a.test', { method: 'PUT', body: chunks(), duplex: 'half' })
export const list: Iterable<Uint8Array> = [new Uint8Array(1)]
export const response = new Response(list)
