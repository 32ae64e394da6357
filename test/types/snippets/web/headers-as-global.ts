// The library's Headers where the runtime's is expected.
import type { Headers } from 'undici'

export const take = (value: globalThis.Headers): globalThis.Headers => value
export const give = (value: Headers): globalThis.Headers => take(value)
