// The runtime's Headers where the library's is expected.
import type { Headers } from 'undici'

export const give = (value: globalThis.Headers): Headers => value
