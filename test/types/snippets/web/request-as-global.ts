// The library's Request where the runtime's is expected.
import type { Request } from 'undici'

export const take = (value: globalThis.Request): globalThis.Request => value
export const give = (value: Request): globalThis.Request => take(value)
