/** The channels on which requests and connections are published. */
export const TRAFFIC_CHANNELS: readonly string[] = [
  'undici:request:create',
  'undici:request:bodyChunkSent',
  'undici:request:bodySent',
  'undici:request:headers',
  'undici:request:bodyChunkReceived',
  'undici:request:trailers',
  'undici:request:error',
  'undici:client:beforeConnect',
  'undici:client:connected',
  'undici:client:connectError',
  'undici:client:sendHeaders',
]

/** Every channel that the package publishes on or listens to. */
export const CHANNELS: readonly string[] = [
  ...TRAFFIC_CHANNELS,
  'undici:proxy:connected',
  'ventuno:client:disconnected',
  'undici:websocket:open',
  'undici:websocket:close',
  'undici:websocket:socket_error',
  'undici:websocket:ping',
  'undici:websocket:pong',
  'ventuno:debug',
]
