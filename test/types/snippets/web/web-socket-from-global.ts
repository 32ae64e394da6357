// The runtime's WebSocket where the library's is expected.
import type { WebSocket } from 'undici'

export const give = (value: globalThis.WebSocket): WebSocket => value
