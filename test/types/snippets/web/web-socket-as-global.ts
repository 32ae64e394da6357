// The library's WebSocket where the runtime's is expected.
import type { WebSocket } from 'undici'

export const give = (value: WebSocket): globalThis.WebSocket => value
