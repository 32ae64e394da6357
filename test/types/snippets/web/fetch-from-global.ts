// The runtime's fetch where the library's is expected.
import type { fetch } from 'undici'

export const own: typeof fetch = globalThis.fetch
