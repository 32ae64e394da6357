import { channel, subscribe } from 'node:diagnostics_channel'
import type { DiagnosticsChannel } from 'undici'

subscribe('undici:request:create', (message) => {
  const { request } = message as DiagnosticsChannel.RequestCreateMessage
  console.log(request.origin, request.method, request.path, request.completed)
})
channel('undici:request:headers').subscribe((message) => {
  const { response } = message as DiagnosticsChannel.RequestHeadersMessage
  console.log(response.statusCode, response.headers.length, response.statusText)
})
subscribe('undici:request:error', (message) =>
  console.log((message as DiagnosticsChannel.RequestErrorMessage).error.message),
)
subscribe('undici:client:connected', (message) => {
  const { connectParams, socket } = message as DiagnosticsChannel.ClientConnectedMessage
  console.log(connectParams.hostname, socket.remotePort)
})
subscribe('undici:client:connectError', (message) =>
  console.log((message as DiagnosticsChannel.ClientConnectErrorMessage).error),
)
export const trailers = (m: DiagnosticsChannel.RequestTrailersMessage): Buffer[] => m.trailers
export const request = (r: DiagnosticsChannel.Request): string => `${r.method} ${r.path}`
