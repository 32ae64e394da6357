import diagnosticsChannel from 'node:diagnostics_channel'
import type { DiagnosticsChannel } from 'undici'

type Map_ = {
  'undici:request:create': DiagnosticsChannel.RequestCreateMessage
  'undici:request:bodySent': DiagnosticsChannel.RequestBodySentMessage
  'undici:request:bodyChunkSent': DiagnosticsChannel.RequestBodyChunkSentMessage
  'undici:request:bodyChunkReceived': DiagnosticsChannel.RequestBodyChunkReceivedMessage
  'undici:request:headers': DiagnosticsChannel.RequestHeadersMessage
  'undici:request:trailers': DiagnosticsChannel.RequestTrailersMessage
  'undici:request:error': DiagnosticsChannel.RequestErrorMessage
  'undici:client:sendHeaders': DiagnosticsChannel.ClientSendHeadersMessage
  'undici:client:beforeConnect': DiagnosticsChannel.ClientBeforeConnectMessage
  'undici:client:connected': DiagnosticsChannel.ClientConnectedMessage
  'undici:client:connectError': DiagnosticsChannel.ClientConnectErrorMessage
}
function on<K extends keyof Map_>(k: K, f: (m: Map_[K]) => void) {
  diagnosticsChannel.channel(k).subscribe(f as (m: unknown) => void)
}
const spans = new WeakMap<DiagnosticsChannel.Request, number>()
on('undici:request:create', ({ request }) => {
  spans.set(request, 1)
  if (Array.isArray(request.headers)) request.headers.push('a', 'b')
  else if (typeof request.headers === 'string') request.headers += 'x'
  new URL(request.path, request.origin)
  request.method?.toUpperCase()
})
on('undici:request:headers', ({ request, response }) => {
  spans.get(request)
  if (Array.isArray(response.headers))
    for (let i = 0; i < response.headers.length; i += 2) response.headers[i]!.toString()
  else response.headers['x']
})
on('undici:request:bodyChunkReceived', ({ chunk }) => chunk.toString('hex'))
on('undici:request:bodyChunkSent', ({ chunk }) =>
  typeof chunk === 'string' ? chunk.length : chunk.byteLength,
)
on('undici:request:trailers', ({ trailers }) => trailers.map((t) => t.toString()))
on('undici:client:sendHeaders', ({ headers, socket }) => {
  headers.split('\r\n')
  socket.remoteAddress
})
on(
  'undici:client:beforeConnect',
  ({ connectParams: { host, hostname, protocol, port, servername }, connector }) => {
    const s: string | null = servername
    connector({ hostname, protocol, port, host, servername: s ?? '' }, (e, s) => {
      if (e) throw e
      s.end()
    })
  },
)
on('undici:client:connectError', ({ error }) => error.message)
export class Sub {
  private _onRequest({
    request,
    error,
  }:
    | DiagnosticsChannel.RequestErrorMessage
    | (DiagnosticsChannel.RequestHeadersMessage & { error?: undefined })) {
    return [request.completed, error]
  }
  use() {
    return this._onRequest
  }
}
