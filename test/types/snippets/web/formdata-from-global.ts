// The runtime's FormData where the library's is expected.
import type { FormData } from 'undici'

export const give = (value: globalThis.FormData): FormData => value
