/**
 * Every public error class. `instanceof` works by registry symbol, not by prototype, so that errors of one
 * copy of the library match the classes of another, and undici's classes match ours.
 */

import { defineKind, isInstance } from './base/kind.ts'

/** The socket of a {@link SocketError}, as it was when the error was created. */
export interface SocketInfo {
  /** Our address. */
  localAddress?: string | undefined
  /** Our port. */
  localPort?: number | undefined
  /** The peer's address. */
  remoteAddress?: string | undefined
  /** The peer's port. */
  remotePort?: number | undefined
  /** `IPv4` or `IPv6`. */
  remoteFamily?: string | undefined
  /** Milliseconds, as set on the socket. */
  timeout?: number | undefined
  /** Bytes sent so far. */
  bytesWritten?: number | undefined
  /** Bytes received so far. */
  bytesRead?: number | undefined
}

/** How far a request had come. */
export type RequestPhase = 'queued' | 'connecting' | 'sending' | 'headers' | 'body'

/**
 * Whether the same request may be sent again: `safe`, the server cannot have processed it;
 * `idempotent-only`, it may have, so only if doing it twice is harmless; `no`, repeating is impossible
 * (the body is spent) or pointless (the caller aborted it, or the request or its limits are at fault).
 */
export type RetrySafety = 'safe' | 'idempotent-only' | 'no'

/**
 * When each step of a request happened: milliseconds on the clock of `performance.now()`, null for a step
 * that was not reached. `connect` and `secured` are null on a reused connection.
 */
export interface Timings {
  /** The request was accepted. */
  queued: number
  /** Its connection was up. */
  connect: number | null
  /** The TLS handshake was done. */
  secured: number | null
  /** Head and body were handed over. */
  sent: number | null
  /** The first byte of the response came. */
  firstByte: number | null
  /** The response was complete, or the request failed. */
  end: number | null
}

/** The fields that the errors of a request have in addition. */
export interface RequestErrorContext {
  /** As the caller gave it. */
  method: string
  /** Where it was to go. */
  origin: string
  /** Without the query, which may hold secrets. */
  path: string
  /** How far it had come. */
  phase: RequestPhase
  /** Whether its connection had served others before. */
  reusedSocket: boolean
  /** Whether it may be sent again. */
  retrySafety: RetrySafety
  /** When each step happened. */
  timings: Timings
  /** Null when there was no connection. */
  socket: SocketInfo | null
}

/** The step of the way through a proxy that failed. */
export type ProxyPhase =
  | 'proxy-dial'
  | 'proxy-tls'
  | 'proxy-connect'
  | 'socks-greeting'
  | 'socks-auth'
  | 'socks-request'
  | 'target-tls'
  | 'forward'

/** The field `proxy` of an error of a request that went through a proxy. */
export interface ProxyErrorInfo {
  /** The proxy, without user info. */
  uri: string
  /** The step that failed. */
  phase: ProxyPhase
  /** Of a proxy that refused; null otherwise. */
  statusCode: number | null
  /** The same. */
  headers: Record<string, string | string[] | undefined> | null
  /** The first 4 KiB of what a proxy that refused sent with it; null otherwise. */
  body: string | null
  /** The reply code of a SOCKS proxy; null otherwise. */
  reply: number | null
}

/** The base class of the errors of the library. */
export class UndiciError extends Error {
  override name: string = 'UndiciError'
  code: string = 'UND_ERR'

  // Set by request/error-context.ts on errors that end a request.
  declare method?: string
  declare origin?: string
  declare path?: string
  declare phase?: RequestPhase
  declare reusedSocket?: boolean
  declare retrySafety?: RetrySafety
  declare timings?: Timings
  declare socket?: SocketInfo | null | undefined
  // Set on errors of requests that went through a proxy.
  declare proxy?: ProxyErrorInfo

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this, each with its own symbol
    return isInstance(this, value)
  }
}
defineKind(UndiciError, 'undici.error.UND_ERR', 'UndiciError')

/** No connection within the connect timeout. */
export class ConnectTimeoutError extends UndiciError {
  override name = 'ConnectTimeoutError' as const
  override code = 'UND_ERR_CONNECT_TIMEOUT' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Connect Timeout Error', options)
  }
}
defineKind(ConnectTimeoutError, 'undici.error.UND_ERR_CONNECT_TIMEOUT', 'ConnectTimeoutError')

/** No complete response head within `headersTimeout`. */
export class HeadersTimeoutError extends UndiciError {
  override name = 'HeadersTimeoutError' as const
  override code = 'UND_ERR_HEADERS_TIMEOUT' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Headers Timeout Error', options)
  }
}
defineKind(HeadersTimeoutError, 'undici.error.UND_ERR_HEADERS_TIMEOUT', 'HeadersTimeoutError')

/** A head reached `maxHeaderSize`, on its way out or in. */
export class HeadersOverflowError extends UndiciError {
  override name = 'HeadersOverflowError' as const
  override code = 'UND_ERR_HEADERS_OVERFLOW' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Headers Overflow Error', options)
  }
}
defineKind(HeadersOverflowError, 'undici.error.UND_ERR_HEADERS_OVERFLOW', 'HeadersOverflowError')

/** No body data within `bodyTimeout`. */
export class BodyTimeoutError extends UndiciError {
  override name = 'BodyTimeoutError' as const
  override code = 'UND_ERR_BODY_TIMEOUT' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Body Timeout Error', options)
  }
}
defineKind(BodyTimeoutError, 'undici.error.UND_ERR_BODY_TIMEOUT', 'BodyTimeoutError')

/** The source of a request body had nothing to send within `requestBodyTimeout`. */
export class RequestBodyTimeoutError extends UndiciError {
  override name = 'RequestBodyTimeoutError' as const
  override code = 'UND_ERR_REQ_BODY_TIMEOUT' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Request Body Timeout Error', options)
  }
}
defineKind(RequestBodyTimeoutError, 'undici.error.UND_ERR_REQ_BODY_TIMEOUT', 'RequestBodyTimeoutError')

/** A bad argument, option or header; nothing was sent. */
export class InvalidArgumentError extends UndiciError {
  override name = 'InvalidArgumentError' as const
  override code = 'UND_ERR_INVALID_ARG' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Invalid Argument Error', options)
  }
}
defineKind(InvalidArgumentError, 'undici.error.UND_ERR_INVALID_ARG', 'InvalidArgumentError')

/** A stream factory or pipeline handler did not return a stream. */
export class InvalidReturnValueError extends UndiciError {
  override name = 'InvalidReturnValueError' as const
  override code = 'UND_ERR_INVALID_RETURN_VALUE' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Invalid Return Value Error', options)
  }
}
defineKind(InvalidReturnValueError, 'undici.error.UND_ERR_INVALID_RETURN_VALUE', 'InvalidReturnValueError')

/** An operation was given up, for example `body.dump()` over its limit. */
export class AbortError extends UndiciError {
  override name = 'AbortError' as const
  override code: 'UND_ERR_ABORT' | 'UND_ERR_ABORTED' = 'UND_ERR_ABORT'

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'The operation was aborted', options)
  }
}
defineKind(AbortError, 'undici.error.UND_ERR_ABORT', 'AbortError')

/** The request was aborted without a reason. */
export class RequestAbortedError extends AbortError {
  override name = 'AbortError' as const
  override code = 'UND_ERR_ABORTED' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Request aborted', options)
  }
}
defineKind(RequestAbortedError, 'undici.error.UND_ERR_ABORTED', 'RequestAbortedError')

/** An expected end of a connection or stream: reset, idle timeout, upgrade … */
export class InformationalError extends UndiciError {
  override name = 'InformationalError' as const
  override code = 'UND_ERR_INFO' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Request information', options)
  }
}
defineKind(InformationalError, 'undici.error.UND_ERR_INFO', 'InformationalError')

/** The request body is not as long as its content-length header says. */
export class RequestContentLengthMismatchError extends UndiciError {
  override name = 'RequestContentLengthMismatchError' as const
  override code = 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Request body length does not match content-length header', options)
  }
}
defineKind(
  RequestContentLengthMismatchError,
  'undici.error.UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'RequestContentLengthMismatchError',
)

/** The response body is not as long as its content-length header says. */
export class ResponseContentLengthMismatchError extends UndiciError {
  override name = 'ResponseContentLengthMismatchError' as const
  override code = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Response body length does not match content-length header', options)
  }
}
defineKind(
  ResponseContentLengthMismatchError,
  'undici.error.UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'ResponseContentLengthMismatchError',
)

/** Use after `destroy()`, and the default reason of `destroy()`. */
export class ClientDestroyedError extends UndiciError {
  override name = 'ClientDestroyedError' as const
  override code = 'UND_ERR_DESTROYED' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'The client is destroyed', options)
  }
}
defineKind(ClientDestroyedError, 'undici.error.UND_ERR_DESTROYED', 'ClientDestroyedError')

/** Dispatch after `close()`. */
export class ClientClosedError extends UndiciError {
  override name = 'ClientClosedError' as const
  override code = 'UND_ERR_CLOSED' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'The client is closed', options)
  }
}
defineKind(ClientClosedError, 'undici.error.UND_ERR_CLOSED', 'ClientClosedError')

/** Something the library does not do, such as a caller's `expect` header. */
export class NotSupportedError extends UndiciError {
  override name = 'NotSupportedError' as const
  override code = 'UND_ERR_NOT_SUPPORTED' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Not supported error', options)
  }
}
defineKind(NotSupportedError, 'undici.error.UND_ERR_NOT_SUPPORTED', 'NotSupportedError')

/** The response body is longer than `maxResponseSize`. */
export class ResponseExceededMaxSizeError extends UndiciError {
  override name = 'ResponseExceededMaxSizeError' as const
  override code = 'UND_ERR_RES_EXCEEDED_MAX_SIZE' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Response content exceeded max size', options)
  }
}
defineKind(
  ResponseExceededMaxSizeError,
  'undici.error.UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'ResponseExceededMaxSizeError',
)

/** Dispatch on a BalancedPool without upstreams. */
export class BalancedPoolMissingUpstreamError extends UndiciError {
  override name = 'MissingUpstreamError' as const
  override code = 'UND_ERR_BPL_MISSING_UPSTREAM' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'No upstream has been added to the BalancedPool', options)
  }
}
defineKind(
  BalancedPoolMissingUpstreamError,
  'undici.error.UND_ERR_BPL_MISSING_UPSTREAM',
  'BalancedPoolMissingUpstreamError',
)

/** An Agent holds `maxOrigins` origins already. */
export class MaxOriginsReachedError extends UndiciError {
  override name = 'MaxOriginsReachedError' as const
  override code = 'UND_ERR_MAX_ORIGINS_REACHED' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Maximum allowed origins reached', options)
  }
}
defineKind(MaxOriginsReachedError, 'undici.error.UND_ERR_MAX_ORIGINS_REACHED', 'MaxOriginsReachedError')

/** A WebSocket message inflates beyond its limit. */
export class MessageSizeExceededError extends UndiciError {
  override name = 'MessageSizeExceededError' as const
  override code = 'UND_ERR_WS_MESSAGE_SIZE_EXCEEDED' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'Max decompressed message size exceeded', options)
  }
}
defineKind(
  MessageSizeExceededError,
  'undici.error.UND_ERR_WS_MESSAGE_SIZE_EXCEEDED',
  'MessageSizeExceededError',
)

/** The connection was lost, or the received bytes were not an answer to the request. */
export class SocketError extends UndiciError {
  override name = 'SocketError' as const
  override code = 'UND_ERR_SOCKET' as const
  override socket: SocketInfo | null | undefined

  constructor(message?: string, socket?: SocketInfo | null, options?: ErrorOptions) {
    super(message || 'Socket error', options)
    this.socket = socket
  }
}
defineKind(SocketError, 'undici.error.UND_ERR_SOCKET', 'SocketError')

/** The response is not HTTP/1.1. `code` is `HPE_*`, `data` the bytes from the offending place on. */
export class HTTPParserError extends Error {
  override name = 'HTTPParserError' as const
  /** With a second argument to the constructor, as the library always gives one. */
  code: string
  data: string | undefined

  declare method?: string
  declare origin?: string
  declare path?: string
  declare phase?: RequestPhase
  declare reusedSocket?: boolean
  declare retrySafety?: RetrySafety
  declare timings?: Timings
  declare socket?: SocketInfo | null | undefined
  declare proxy?: ProxyErrorInfo

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this, each with its own symbol
    return isInstance(this, value)
  }

  constructor(message?: string, code?: string, data?: string | Uint8Array) {
    super(message)
    this.code = (code ? `HPE_${code}` : undefined) as string
    this.data = data === undefined ? undefined : data.toString()
  }
}
defineKind(HTTPParserError, 'undici.error.UND_ERR_HTTP_PARSER', 'HTTPParserError')

/** The last attempt of a request was answered with a bad status, or a response that broke off could not be completed. */
export class RequestRetryError extends UndiciError {
  override name = 'RequestRetryError' as const
  override code = 'UND_ERR_REQ_RETRY' as const
  statusCode: number
  /** Of the response. */
  headers: Record<string, string | string[]>
  data: {
    /** How often the request has failed. */
    count: number
  }
  /** Milliseconds, if the response had a `retry-after` that can be read. */
  declare retryAfter?: number

  constructor(
    message: string | undefined,
    statusCode: number,
    details: { headers?: object | null; data?: { count: number } } = {},
  ) {
    super(message || 'Request retry error')
    this.statusCode = statusCode
    this.headers = details.headers as Record<string, string | string[]>
    this.data = details.data as { count: number }
  }
}
defineKind(RequestRetryError, 'undici.error.UND_ERR_REQ_RETRY', 'RequestRetryError')

/** A response status that an interceptor was asked to treat as an error. */
export class ResponseError extends UndiciError {
  override name = 'ResponseError' as const
  override code = 'UND_ERR_RESPONSE' as const
  statusCode: number
  /** The same as `statusCode`. */
  readonly status: number
  headers: Record<string, string | string[] | undefined> | string[] | null
  /** As text, or parsed if it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: callers read members of what a server has sent
  body: string | Record<string, any> | null
  /** Only the beginning of the body was kept. */
  bodyTruncated: boolean

  constructor(
    message: string | undefined,
    statusCode: number,
    details: { headers?: unknown; body?: unknown; bodyTruncated?: boolean } = {},
  ) {
    super(message || 'Response error')
    this.statusCode = statusCode
    this.status = statusCode
    this.headers = details.headers as ResponseError['headers']
    this.body = details.body as ResponseError['body']
    this.bodyTruncated = details.bodyTruncated ?? false
  }
}
defineKind(ResponseError, 'undici.error.UND_ERR_RESPONSE', 'ResponseError')

/** TLS to a proxy failed. */
export class SecureProxyConnectionError extends UndiciError {
  override name = 'SecureProxyConnectionError' as const
  override code = 'UND_ERR_PRX_TLS' as const

  constructor(cause?: unknown, message?: string, options?: object) {
    super(message || 'Secure Proxy Connection failed', { ...options, cause })
  }
}
defineKind(SecureProxyConnectionError, 'undici.error.UND_ERR_PRX_TLS', 'SecureProxyConnectionError')

/** A proxy did not open the tunnel. */
export class ProxyConnectionError extends UndiciError {
  override name = 'ProxyConnectionError' as const
  override code = 'UND_ERR_PRX_CONN' as const

  constructor(cause?: unknown, message?: string, options?: object) {
    super(message || 'Proxy Connection failed', { ...options, cause })
  }
}
defineKind(ProxyConnectionError, 'undici.error.UND_ERR_PRX_CONN', 'ProxyConnectionError')

/** A SOCKS5 proxy refused or broke its protocol. */
export class Socks5ProxyError extends UndiciError {
  override name = 'Socks5ProxyError' as const
  override code: string

  constructor(message?: string, code?: string) {
    super(message || 'SOCKS5 proxy error')
    this.code = code || 'UND_ERR_SOCKS5'
  }
}
defineKind(Socks5ProxyError, 'undici.error.UND_ERR_SOCKS5', 'Socks5ProxyError')

/** A request was redirected more often than its caller allows. */
export class MaxRedirectsError extends UndiciError {
  override name = 'MaxRedirectsError' as const
  override code = 'UND_ERR_REDIRECT_MAX' as const

  constructor(message?: string, options?: ErrorOptions) {
    super(message || 'max redirects', options)
  }
}
defineKind(MaxRedirectsError, 'undici.error.UND_ERR_REDIRECT_MAX', 'MaxRedirectsError')

/** An origin fails so often that requests to it are not sent for a while. */
export class CircuitOpenError extends UndiciError {
  override name = 'CircuitOpenError' as const
  override code = 'UND_ERR_CIRCUIT_OPEN' as const
  /** Nothing was sent. */
  override retrySafety: RetrySafety = 'safe'
  /** Milliseconds after which a request is let through; 0 if that depends on a request that is under way. */
  readonly retryAfter: number

  constructor(message?: string, retryAfter = 0, options?: ErrorOptions) {
    super(message || 'Circuit is open', options)
    this.retryAfter = retryAfter
  }
}
defineKind(CircuitOpenError, 'undici.error.UND_ERR_CIRCUIT_OPEN', 'CircuitOpenError')

/** What a {@link BlockedAddressError} is about. */
export interface BlockedAddressDetails {
  /** The rule that refused: `loopback`, `private`, `deny`, `bad-port` … */
  rule: string
  /** The entry of a list, or the block of addresses, that decided. */
  entry?: string | null
  /** The name or the IP literal that was asked for. */
  hostname?: string | null
  /** The address that was refused; null if the name or the port was. */
  address?: string | null
  /** The port that was asked for. */
  port?: number | null
}

/** A guard does not allow the connection; no packet was sent to the address. */
export class BlockedAddressError extends UndiciError {
  override name = 'BlockedAddressError' as const
  override code = 'UND_ERR_BLOCKED_ADDRESS' as const
  /** Nothing was sent. */
  override retrySafety: RetrySafety = 'safe'
  readonly rule: string
  readonly entry: string | null
  readonly hostname: string | null
  readonly address: string | null
  readonly port: number | null

  // The message leaves out where a name leads to: it may reach the one who has chosen the name.
  constructor(message?: string, details?: BlockedAddressDetails, options?: ErrorOptions) {
    super(message || 'Blocked address', options)
    this.rule = details?.rule ?? 'unknown'
    this.entry = details?.entry ?? null
    this.hostname = details?.hostname ?? null
    this.address = details?.address ?? null
    this.port = details?.port ?? null
  }
}
defineKind(BlockedAddressError, 'undici.error.UND_ERR_BLOCKED_ADDRESS', 'BlockedAddressError')

/** More requests wait than a throttle keeps, or the server asks for a longer wait than it allows. */
export class ThrottledError extends UndiciError {
  override name = 'ThrottledError' as const
  override code = 'UND_ERR_THROTTLED' as const
  /** Nothing was sent. */
  override retrySafety: RetrySafety = 'safe'
  /** Milliseconds that the server has asked to be left alone for; absent if the queue was full. */
  declare retryAfter?: number

  constructor(message?: string, options?: ErrorOptions & { retryAfter?: number }) {
    super(message || 'Too many requests are waiting', options)
    if (options !== undefined && Object.hasOwn(options, 'retryAfter')) this.retryAfter = options.retryAfter!
  }
}
defineKind(ThrottledError, 'undici.error.UND_ERR_THROTTLED', 'ThrottledError')

/** Never thrown: undici's parser needs WebAssembly, ours does not. Its name is `Error` there, too. */
export class WebAssemblyNotSupportedError extends Error {
  code: string = 'ERR_WEBASSEMBLY_NOT_SUPPORTED'

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this, each with its own symbol
    return isInstance(this, value)
  }

  constructor(message?: string) {
    super(message || 'WebAssembly is not supported in this environment, but is required for HTTP/1 parsing')
  }
}
defineKind(
  WebAssemblyNotSupportedError,
  'undici.error.ERR_WEBASSEMBLY_NOT_SUPPORTED',
  'WebAssemblyNotSupportedError',
)
