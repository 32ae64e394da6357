/** What `--write-out` prints, with the names of curl. */
import type { Exchange } from './exchange.ts'
import { field } from './message.ts'

/** Moments in seconds from the beginning, as curl counts them. */
function timesOf(exchange: Exchange): Record<string, number> {
  const { blocked, dns, connect, tls, send, wait, total } = exchange.phases ?? {
    blocked: 0,
    dns: 0,
    connect: 0,
    tls: 0,
    send: 0,
    wait: 0,
    total: 0,
  }
  const looked = (blocked ?? 0) + (dns ?? 0)
  const connected = looked + (connect ?? 0)
  const secured = connected + (tls ?? 0)
  return {
    time_namelookup: looked,
    time_connect: connected,
    time_appconnect: tls === null ? 0 : secured,
    time_pretransfer: secured,
    time_redirect: 0,
    time_starttransfer: secured + (send ?? 0) + (wait ?? 0),
    time_total: total,
  }
}

function valuesOf(exchange: Exchange, savedTo: string | null): Record<string, string | number> {
  const { request, response, connection, redirects, failure, connections } = exchange
  const { size = 0, status = 0, headers = [] } = response ?? {}
  const times = timesOf(exchange)
  const seconds = Object.entries(times).map(([name, ms]) => [name, (ms / 1000).toFixed(6)])
  const location = field(headers, 'location')
  const isRedirect =
    status >= 300 && status < 400 && location !== null && URL.canParse(location, request.url.href)
  return {
    ...Object.fromEntries(seconds),
    http_code: String(status).padStart(3, '0'),
    response_code: String(status).padStart(3, '0'),
    http_version: connection === null ? '0' : connection.protocol === 'http/1.1' ? '1.1' : '2',
    content_type: field(headers, 'content-type') ?? '',
    size_download: size,
    size_upload: request.size,
    speed_download: times['time_total']! > 0 ? Math.round((size * 1000) / times['time_total']!) : 0,
    num_redirects: redirects.length,
    num_connects: connections,
    num_headers: headers.length,
    redirect_url: isRedirect ? new URL(location, request.url).href : '',
    url: request.given.href,
    url_effective: request.url.href,
    method: request.method,
    scheme: request.url.protocol.slice(0, -1).toUpperCase(),
    remote_ip: connection?.remoteAddress ?? '',
    remote_port: connection?.remotePort ?? 0,
    local_port: connection?.localPort ?? 0,
    filename_effective: savedTo ?? '',
    errormsg: failure?.message ?? '',
    exitcode: failure?.exitCode ?? 0,
    ssl_verify_result: connection?.tls?.problem ? 1 : 0,
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\r': '\r', '\\t': '\t', '%%': '%' }

/** A variable that is not known is left out, as curl does. */
export function writeOut(format: string, exchange: Exchange, savedTo: string | null): string {
  const values = valuesOf(exchange, savedTo)
  return format.replace(
    /\\[nrt]|%%|%\{([^}]*)\}|%header\{([^}]*)\}/g,
    (token, name?: string, header?: string) => {
      if (header !== undefined) return field(exchange.response?.headers ?? [], header.toLowerCase()) ?? ''
      if (name === undefined) return ESCAPES[token]!
      return Object.hasOwn(values, name) ? String(values[name]) : ''
    },
  )
}
