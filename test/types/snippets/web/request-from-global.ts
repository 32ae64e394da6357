// The runtime's Request where the library's is expected.
import type { Request } from 'undici'

export const give = (value: globalThis.Request): Request => value
