/**
 * Publishers for node:diagnostics_channel under undici's names, so that OpenTelemetry, Sentry and the runtime's own
 * debug output observe ventuno. Callers check `hasSubscribers` first: a channel without subscribers costs one property
 * read.
 */
import { type Channel, channel } from 'node:diagnostics_channel'

export const channels: {
  readonly requestCreate: Channel
  readonly requestBodyChunkSent: Channel
  readonly requestBodySent: Channel
  readonly requestHeaders: Channel
  readonly requestBodyChunkReceived: Channel
  readonly requestTrailers: Channel
  readonly requestError: Channel
  readonly pendingRequests: Channel
  readonly requestRetry: Channel
  readonly beforeConnect: Channel
  readonly connected: Channel
  readonly connectError: Channel
  readonly sendHeaders: Channel
  readonly proxyConnected: Channel
  readonly cacheError: Channel
} = {
  requestCreate: channel('undici:request:create'),
  requestBodyChunkSent: channel('undici:request:bodyChunkSent'),
  requestBodySent: channel('undici:request:bodySent'),
  requestHeaders: channel('undici:request:headers'),
  requestBodyChunkReceived: channel('undici:request:bodyChunkReceived'),
  requestTrailers: channel('undici:request:trailers'),
  requestError: channel('undici:request:error'),
  pendingRequests: channel('undici:request:pending-requests'),
  requestRetry: channel('ventuno:request:retry'),
  beforeConnect: channel('undici:client:beforeConnect'),
  connected: channel('undici:client:connected'),
  connectError: channel('undici:client:connectError'),
  sendHeaders: channel('undici:client:sendHeaders'),
  proxyConnected: channel('undici:proxy:connected'),
  cacheError: channel('ventuno:cache:error'),
}
