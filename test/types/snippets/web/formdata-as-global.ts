// The library's FormData where the runtime's is expected.
import type { FormData } from 'undici'

export const take = (value: globalThis.FormData): globalThis.FormData => value
export const give = (value: FormData): globalThis.FormData => take(value)
