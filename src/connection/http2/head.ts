/**
 * Everything about an HTTP/2 request that is decided before its HEADERS frame (RFC 9113 §8.3).
 */
import { InformationalError, InvalidArgumentError } from '../../errors.ts'
import { fieldBytes, requestFields } from '../../protocol/http2/message.ts'
import type { RemoteSettings } from '../../protocol/http2/settings.ts'
import { NO_EXTENDED_CONNECT } from '../../protocol/websocket/handshake.ts'
import type { Request } from '../../request/request.ts'
import type { ConnectionSettings } from '../connection.ts'
import { type OutgoingBody, prepareBody } from '../outgoing-body.ts'
import { headTooLarge, illegalFields } from '../outgoing-head.ts'

export interface PreparedHttp2Request {
  /** Flat, pseudo fields first. */
  readonly fields: readonly string[]
  readonly body: OutgoingBody
}

/** The one protocol that extended CONNECT is used for (RFC 8441). */
const WEBSOCKET = 'websocket'

/** Returns the error instead when the request must not be sent. Nothing has happened then. */
export function prepareHttp2Request(
  request: Request,
  settings: ConnectionSettings,
  remote: RemoteSettings,
): PreparedHttp2Request | Error {
  const list = request.wireFields()
  if (list === null) return illegalFields()
  const { upgrade, method } = request
  if (upgrade !== null) {
    if (upgrade !== WEBSOCKET) {
      return new InvalidArgumentError(`Custom upgrade "${upgrade}" not supported over HTTP/2`)
    }
    if (!remote.enableConnectProtocol) {
      return new InformationalError(`HTTP/2: ${NO_EXTENDED_CONNECT.message}`, { cause: NO_EXTENDED_CONNECT })
    }
  }
  const body = prepareBody(request, settings.strictContentLength)
  if (body instanceof Error) return body

  const isTunnel = method === 'CONNECT' && upgrade === null
  const fields = requestFields({
    method: upgrade === null ? method : 'CONNECT',
    scheme: request.protocol.slice(0, -1),
    authority: isTunnel && isAuthority(request.path) ? request.path : request.host || settings.authority,
    path: request.path,
    protocol: upgrade,
    headers: list,
  })
  if ('code' in fields) return new InformationalError(fields.message, { cause: fields })
  if (body.contentType !== null) fields.push('content-type', body.contentType)
  if (body.length !== null && !request.takesOver) fields.push('content-length', String(body.length))
  if (body.trailer !== null) fields.push('trailer', body.trailer)
  if (body.expects) fields.push('expect', '100-continue')
  const size = fieldBytes(fields, 0)
  if (size > settings.maxHeaderSize) return headTooLarge(size, settings.maxHeaderSize)
  return { fields, body }
}

/** A CONNECT to a path, such as `/`, names no target: it is meant for the origin itself. */
function isAuthority(path: string): boolean {
  return !path.includes('/')
}

/** The head as subscribers of `undici:client:sendHeaders` know it: own fields, pseudo fields, length. */
export function printFields(fields: readonly string[]): string {
  const pseudo: string[] = []
  const own: string[] = []
  const length: string[] = []
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!
    const kind = name.startsWith(':') ? pseudo : name === 'content-length' ? length : own
    kind.push(`${name}: ${fields[i + 1]}\r\n`)
  }
  return [...own, ...pseudo.sort(), ...length].join('')
}
