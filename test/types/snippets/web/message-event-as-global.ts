// The library's MessageEvent where the runtime's is expected.
import type { MessageEvent } from 'undici'

export const give = (value: MessageEvent): globalThis.MessageEvent => value
