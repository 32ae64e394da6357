// Like an instrumentation for undici: the messages of the channels. Compiled, never run; also against undici's own
// types.
import { channel, subscribe } from 'node:diagnostics_channel'
import type { DiagnosticsChannel } from '../../src/index.ts'

const records = new WeakMap<DiagnosticsChannel.Request, { started: number; status?: number }>()

function listen<T>(name: string, listener: (message: T) => void): void {
  subscribe(name, (message) => listener(message as T))
}

export function instrument(report: (name: string, value: string | number) => void): void {
  listen<DiagnosticsChannel.RequestCreateMessage>('undici:request:create', ({ request }) => {
    const origin: string = String(request.origin)
    const method: string = request.method ?? 'GET'
    records.set(request, { started: performance.now() })
    report(method, new URL(request.path, origin).href)
    const headers: string | string[] = request.headers
    report('headers', Array.isArray(headers) ? headers.length : headers.split('\r\n').length)
  })
  listen<DiagnosticsChannel.ClientSendHeadersMessage>(
    'undici:client:sendHeaders',
    ({ request, socket, headers }) => {
      report('peer', `${socket.remoteAddress}:${socket.remotePort} ${headers.length} ${request.completed}`)
    },
  )
  listen<DiagnosticsChannel.RequestHeadersMessage>('undici:request:headers', ({ request, response }) => {
    const record = records.get(request)
    if (record !== undefined) record.status = response.statusCode
    if (!Array.isArray(response.headers)) return
    for (let at = 0; at < response.headers.length; at += 2) {
      report(response.headers[at]!.toString().toLowerCase(), response.headers[at + 1]!.toString())
    }
  })
  listen<DiagnosticsChannel.RequestTrailersMessage>('undici:request:trailers', ({ request, trailers }) => {
    report('end', performance.now() - (records.get(request)?.started ?? 0) + trailers.length)
  })
  listen<DiagnosticsChannel.RequestErrorMessage>('undici:request:error', ({ request, error }) => {
    report(`${request.method} ${request.path}`, error.message)
  })
  listen<DiagnosticsChannel.ClientConnectedMessage>(
    'undici:client:connected',
    ({ connectParams, socket }) => {
      const { host, hostname, protocol, port, servername } = connectParams
      report(`${protocol}//${host}`, [hostname, port, servername, socket.localPort].join())
    },
  )
  listen<DiagnosticsChannel.ClientConnectErrorMessage>('undici:client:connectError', ({ error }) => {
    report('connect', error.message)
  })
  report('subscribers', Number(channel('undici:request:create').hasSubscribers))
}
