/**
 * Publishers for node:diagnostics_channel under undici's names, so that OpenTelemetry, Sentry and the
 * runtime's own debug output observe ventuno. Callers check `hasSubscribers` first: a channel without
 * subscribers costs one property read.
 */
import { type Channel, channel } from 'node:diagnostics_channel'

const NAMES = {
  requestCreate: 'undici:request:create',
  requestBodyChunkSent: 'undici:request:bodyChunkSent',
  requestBodySent: 'undici:request:bodySent',
  requestHeaders: 'undici:request:headers',
  requestBodyChunkReceived: 'undici:request:bodyChunkReceived',
  requestTrailers: 'undici:request:trailers',
  requestError: 'undici:request:error',
  pendingRequests: 'undici:request:pending-requests',
  requestRetry: 'ventuno:request:retry',
  beforeConnect: 'undici:client:beforeConnect',
  connected: 'undici:client:connected',
  connectError: 'undici:client:connectError',
  disconnected: 'ventuno:client:disconnected',
  sendHeaders: 'undici:client:sendHeaders',
  proxyConnected: 'undici:proxy:connected',
  cacheError: 'ventuno:cache:error',
} as const

export const channels: { readonly [N in keyof typeof NAMES]: Channel } = Object.fromEntries(
  Object.entries(NAMES).map(([name, text]) => [name, channel(text)]),
) as never
