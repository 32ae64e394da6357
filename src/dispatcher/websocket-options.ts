/** The limits for WebSocket connections, which a dispatcher keeps for those that are opened through it. */

/** Limits for WebSocket connections. */
export interface WebSocketOptions {
  /** Most fragments of one message; 0 for any number. Default: 131072. */
  maxFragments?: number
  /** Most bytes of one message, compressed or not; 0 for any number. Default: 128 MiB. */
  maxPayloadSize?: number
}

const DEFAULTS: Required<WebSocketOptions> = { maxFragments: 131072, maxPayloadSize: 134217728 }

export function readWebSocketOptions(given: WebSocketOptions | null | undefined): Required<WebSocketOptions> {
  return given ? { ...DEFAULTS, ...given } : DEFAULTS
}
