// The runtime's MessageEvent where the library's is expected.
import type { MessageEvent } from 'undici'

export const give = (value: globalThis.MessageEvent): MessageEvent => value
