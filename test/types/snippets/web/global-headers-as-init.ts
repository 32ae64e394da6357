// Headers of the runtime in the library's options.
import { fetch, Headers, Request, Response } from 'undici'

export const all = (headers: globalThis.Headers): unknown[] => [
  new Headers(headers),
  new Response('', { headers }),
  new Request('http://a.test', { headers }),
  fetch('http://a.test', { headers }),
]
