// The library's Response where the runtime's is expected.
import type { Response } from 'undici'

export const take = (value: globalThis.Response): globalThis.Response => value
export const give = (value: Response): globalThis.Response => take(value)
