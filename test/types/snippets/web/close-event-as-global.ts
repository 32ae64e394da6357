// The library's CloseEvent where the runtime's is expected.
import type { CloseEvent } from 'undici'

export const give = (value: CloseEvent): globalThis.CloseEvent => value
