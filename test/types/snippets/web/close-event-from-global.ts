// The runtime's CloseEvent where the library's is expected.
import type { CloseEvent } from 'undici'

export const give = (value: globalThis.CloseEvent): CloseEvent => value
