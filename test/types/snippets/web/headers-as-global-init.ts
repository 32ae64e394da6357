// Headers of the library in the runtime's options.
import type { Headers } from 'undici'

export const all = (headers: Headers): unknown[] => [
  new globalThis.Headers(headers),
  new globalThis.Response('', { headers }),
  globalThis.fetch('http://a.test', { headers }),
]
