/**
 * Every public error class. `instanceof` works by registry symbol, not by prototype, so that errors of one
 * copy of the library match the classes of another, and undici's classes match ours.
 */

import { defineKind } from './base/object/kind.ts'

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
  /** The first byte of the response came, which may be that of an interim one (1xx). */
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

/** The step on the route through a proxy that failed. */
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

type ErrorClass<Create> = Create & Omit<typeof Error, 'prototype'>

/** `Error`, with the fields that errors get in request/error-context.ts and in proxy/. */
const RequestError: ErrorClass<
  new (
    message?: string,
    options?: ErrorOptions,
  ) => Error &
    Partial<Omit<RequestErrorContext, 'socket'>> & {
      socket?: SocketInfo | null | undefined
      proxy?: ProxyErrorInfo
    }
> = Error

interface ErrorFacts {
  readonly name: string
  readonly code: string
  /** Of an error that is given none. */
  readonly message: string | undefined
}

/** Of the prototype of a class, so that subclasses have those of their base. */
const FACTS = Symbol('facts')

/** `kind` has the class under its name, which minifiers change. */
function describe<E extends UndiciError>(
  kind: Readonly<Record<string, { readonly prototype: E }>>,
  code: E['code'],
  message?: string,
  name?: E['name'],
): void {
  for (const [className, kindClass] of Object.entries(kind)) {
    const facts: ErrorFacts = { name: name ?? className, code, message }
    Object.defineProperty(kindClass.prototype, FACTS, { value: facts })
    defineKind(kindClass, `undici.error.${code}`, className)
  }
}

/** The base class of the errors of the library. */
export class UndiciError extends RequestError {
  override name: string
  code: string

  constructor(message?: string, options?: ErrorOptions) {
    const facts = (new.target.prototype as unknown as { readonly [FACTS]: ErrorFacts })[FACTS]
    super(message || (facts.message ?? message), options)
    this.name = facts.name
    this.code = facts.code
  }
}
describe({ UndiciError }, 'UND_ERR')

/** `UndiciError`, with the types of a name and a code. */
const Coded: ErrorClass<
  new <N extends string, C extends string>(
    message?: string,
    options?: ErrorOptions,
  ) => UndiciError & { name: N; code: C }
> = UndiciError as never

/** No connection within the connect timeout. */
export class ConnectTimeoutError extends Coded<'ConnectTimeoutError', 'UND_ERR_CONNECT_TIMEOUT'> {}
describe({ ConnectTimeoutError }, 'UND_ERR_CONNECT_TIMEOUT', 'Connect Timeout Error')

/** No complete response head within `headersTimeout`. */
export class HeadersTimeoutError extends Coded<'HeadersTimeoutError', 'UND_ERR_HEADERS_TIMEOUT'> {}
describe({ HeadersTimeoutError }, 'UND_ERR_HEADERS_TIMEOUT', 'Headers Timeout Error')

/** A head reached `maxHeaderSize`, on its way out or in. */
export class HeadersOverflowError extends Coded<'HeadersOverflowError', 'UND_ERR_HEADERS_OVERFLOW'> {}
describe({ HeadersOverflowError }, 'UND_ERR_HEADERS_OVERFLOW', 'Headers Overflow Error')

/** No body data within `bodyTimeout`. */
export class BodyTimeoutError extends Coded<'BodyTimeoutError', 'UND_ERR_BODY_TIMEOUT'> {}
describe({ BodyTimeoutError }, 'UND_ERR_BODY_TIMEOUT', 'Body Timeout Error')

/** The source of a request body had nothing to send within `requestBodyTimeout`. */
export class RequestBodyTimeoutError extends Coded<'RequestBodyTimeoutError', 'UND_ERR_REQ_BODY_TIMEOUT'> {}
describe({ RequestBodyTimeoutError }, 'UND_ERR_REQ_BODY_TIMEOUT', 'Request Body Timeout Error')

/** A bad argument, option or header; nothing was sent. */
export class InvalidArgumentError extends Coded<'InvalidArgumentError', 'UND_ERR_INVALID_ARG'> {}
describe({ InvalidArgumentError }, 'UND_ERR_INVALID_ARG', 'Invalid Argument Error')

/** A stream factory or pipeline handler did not return a stream. */
export class InvalidReturnValueError extends Coded<
  'InvalidReturnValueError',
  'UND_ERR_INVALID_RETURN_VALUE'
> {}
describe({ InvalidReturnValueError }, 'UND_ERR_INVALID_RETURN_VALUE', 'Invalid Return Value Error')

/** An operation was given up, for example `body.dump()` over its limit. */
export class AbortError extends Coded<'AbortError', 'UND_ERR_ABORT' | 'UND_ERR_ABORTED'> {}
describe({ AbortError }, 'UND_ERR_ABORT', 'The operation was aborted')

/** The request was aborted without a reason. */
export class RequestAbortedError extends AbortError {
  declare code: 'UND_ERR_ABORTED'
}
describe({ RequestAbortedError }, 'UND_ERR_ABORTED', 'Request aborted', 'AbortError')

/** An expected end of a connection or stream: reset, idle timeout, upgrade … */
export class InformationalError extends Coded<'InformationalError', 'UND_ERR_INFO'> {}
describe({ InformationalError }, 'UND_ERR_INFO', 'Request information')

/** The request body is not as long as its content-length header says. */
export class RequestContentLengthMismatchError extends Coded<
  'RequestContentLengthMismatchError',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'
> {}
describe(
  { RequestContentLengthMismatchError },
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'Request body length does not match content-length header',
)

/** The response body is not as long as its content-length header says. */
export class ResponseContentLengthMismatchError extends Coded<
  'ResponseContentLengthMismatchError',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
> {}
describe(
  { ResponseContentLengthMismatchError },
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'Response body length does not match content-length header',
)

/** Use after `destroy()`, and the default reason of `destroy()`. */
export class ClientDestroyedError extends Coded<'ClientDestroyedError', 'UND_ERR_DESTROYED'> {}
describe({ ClientDestroyedError }, 'UND_ERR_DESTROYED', 'The client is destroyed')

/** Dispatch after `close()`. */
export class ClientClosedError extends Coded<'ClientClosedError', 'UND_ERR_CLOSED'> {}
describe({ ClientClosedError }, 'UND_ERR_CLOSED', 'The client is closed')

/** Something the library does not do, such as a caller's `expect` header. */
export class NotSupportedError extends Coded<'NotSupportedError', 'UND_ERR_NOT_SUPPORTED'> {}
describe({ NotSupportedError }, 'UND_ERR_NOT_SUPPORTED', 'Not supported error')

/** The response body is longer than `maxResponseSize`. */
export class ResponseExceededMaxSizeError extends Coded<
  'ResponseExceededMaxSizeError',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE'
> {}
describe(
  { ResponseExceededMaxSizeError },
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'Response content exceeded max size',
)

/** Dispatch on a BalancedPool without upstreams. */
export class BalancedPoolMissingUpstreamError extends Coded<
  'MissingUpstreamError',
  'UND_ERR_BPL_MISSING_UPSTREAM'
> {}
describe(
  { BalancedPoolMissingUpstreamError },
  'UND_ERR_BPL_MISSING_UPSTREAM',
  'No upstream has been added to the BalancedPool',
  'MissingUpstreamError',
)

/** An Agent holds `maxOrigins` origins already. */
export class MaxOriginsReachedError extends Coded<'MaxOriginsReachedError', 'UND_ERR_MAX_ORIGINS_REACHED'> {}
describe({ MaxOriginsReachedError }, 'UND_ERR_MAX_ORIGINS_REACHED', 'Maximum allowed origins reached')

/** An Agent holds `maxConnections` connections already, and none has become free in time. */
export class MaxConnectionsReachedError extends Coded<
  'MaxConnectionsReachedError',
  'UND_ERR_MAX_CONNECTIONS_REACHED'
> {}
describe(
  { MaxConnectionsReachedError },
  'UND_ERR_MAX_CONNECTIONS_REACHED',
  'Maximum allowed connections reached',
)

/** A WebSocket message inflates beyond its limit. */
export class MessageSizeExceededError extends Coded<
  'MessageSizeExceededError',
  'UND_ERR_WS_MESSAGE_SIZE_EXCEEDED'
> {}
describe(
  { MessageSizeExceededError },
  'UND_ERR_WS_MESSAGE_SIZE_EXCEEDED',
  'Max decompressed message size exceeded',
)

/** The connection was lost, or the received bytes were not an answer to the request. */
export class SocketError extends Coded<'SocketError', 'UND_ERR_SOCKET'> {
  override socket: SocketInfo | null | undefined

  constructor(message?: string, socket?: SocketInfo | null, options?: ErrorOptions) {
    super(message, options)
    this.socket = socket
  }
}
describe({ SocketError }, 'UND_ERR_SOCKET', 'Socket error')

/** The response is not HTTP/1.1. `code` is `HPE_*`, `data` the bytes from the offending place on. */
export class HTTPParserError extends RequestError {
  override name = 'HTTPParserError' as const
  /** With a second argument to the constructor, as the library always gives one. */
  code: string
  data: string | undefined

  constructor(message?: string, code?: string, data?: string | Uint8Array) {
    super(message)
    this.code = (code ? `HPE_${code}` : undefined) as string
    this.data = data === undefined ? undefined : data.toString()
  }
}
defineKind(HTTPParserError, 'undici.error.UND_ERR_HTTP_PARSER', 'HTTPParserError')

/**
 * The last attempt of a request was answered with a bad status, or a response that broke off could not be
 * completed.
 */
export class RequestRetryError extends Coded<'RequestRetryError', 'UND_ERR_REQ_RETRY'> {
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
    super(message)
    this.statusCode = statusCode
    this.headers = details.headers as Record<string, string | string[]>
    this.data = details.data as { count: number }
  }
}
describe({ RequestRetryError }, 'UND_ERR_REQ_RETRY', 'Request retry error')

/** A response status that an interceptor was asked to treat as an error. */
export class ResponseError extends Coded<'ResponseError', 'UND_ERR_RESPONSE'> {
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
    super(message)
    this.statusCode = statusCode
    this.status = statusCode
    this.headers = details.headers as ResponseError['headers']
    this.body = details.body as ResponseError['body']
    this.bodyTruncated = details.bodyTruncated ?? false
  }
}
describe({ ResponseError }, 'UND_ERR_RESPONSE', 'Response error')

/** TLS to a proxy failed. */
export class SecureProxyConnectionError extends Coded<'SecureProxyConnectionError', 'UND_ERR_PRX_TLS'> {
  constructor(cause?: unknown, message?: string, options?: object) {
    super(message, { ...options, cause })
  }
}
describe({ SecureProxyConnectionError }, 'UND_ERR_PRX_TLS', 'Secure Proxy Connection failed')

/** A proxy did not open the tunnel. */
export class ProxyConnectionError extends Coded<'ProxyConnectionError', 'UND_ERR_PRX_CONN'> {
  constructor(cause?: unknown, message?: string, options?: object) {
    super(message, { ...options, cause })
  }
}
describe({ ProxyConnectionError }, 'UND_ERR_PRX_CONN', 'Proxy Connection failed')

/** A SOCKS5 proxy refused or broke its protocol. */
export class Socks5ProxyError extends Coded<'Socks5ProxyError', string> {
  constructor(message?: string, code?: string) {
    super(message)
    if (code) this.code = code
  }
}
describe({ Socks5ProxyError }, 'UND_ERR_SOCKS5', 'SOCKS5 proxy error')

/** A request was redirected more often than its caller allows. */
export class MaxRedirectsError extends Coded<'MaxRedirectsError', 'UND_ERR_REDIRECT_MAX'> {}
describe({ MaxRedirectsError }, 'UND_ERR_REDIRECT_MAX', 'max redirects')

/** An origin fails so often that requests to it are not sent for a while. */
export class CircuitOpenError extends Coded<'CircuitOpenError', 'UND_ERR_CIRCUIT_OPEN'> {
  /** Nothing was sent. */
  override retrySafety: RetrySafety = 'safe'
  /** Milliseconds after which a request is let through; 0 if that depends on a request that is under way. */
  readonly retryAfter: number

  constructor(message?: string, retryAfter = 0, options?: ErrorOptions) {
    super(message, options)
    this.retryAfter = retryAfter
  }
}
describe({ CircuitOpenError }, 'UND_ERR_CIRCUIT_OPEN', 'Circuit is open')

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
export class BlockedAddressError extends Coded<'BlockedAddressError', 'UND_ERR_BLOCKED_ADDRESS'> {
  /** Nothing was sent. */
  override retrySafety: RetrySafety = 'safe'
  readonly rule: string
  readonly entry: string | null
  readonly hostname: string | null
  readonly address: string | null
  readonly port: number | null

  // The message leaves out where a name leads to: it may reach the one who has chosen the name.
  constructor(message?: string, details?: BlockedAddressDetails, options?: ErrorOptions) {
    super(message, options)
    this.rule = details?.rule ?? 'unknown'
    this.entry = details?.entry ?? null
    this.hostname = details?.hostname ?? null
    this.address = details?.address ?? null
    this.port = details?.port ?? null
  }
}
describe({ BlockedAddressError }, 'UND_ERR_BLOCKED_ADDRESS', 'Blocked address')

/** More requests wait than a throttle keeps, or the server asks for a longer wait than it allows. */
export class ThrottledError extends Coded<'ThrottledError', 'UND_ERR_THROTTLED'> {
  /** Nothing was sent. */
  override retrySafety: RetrySafety = 'safe'
  /** Milliseconds that the server has asked to be left alone for; absent if the queue was full. */
  declare retryAfter?: number

  constructor(message?: string, options?: ErrorOptions & { retryAfter?: number }) {
    super(message, options)
    if (options !== undefined && Object.hasOwn(options, 'retryAfter')) this.retryAfter = options.retryAfter!
  }
}
describe({ ThrottledError }, 'UND_ERR_THROTTLED', 'Too many requests are waiting')

/** Never thrown: undici's parser needs WebAssembly, ours does not. Its name is `Error` there, too. */
export class WebAssemblyNotSupportedError extends Error {
  code: string = 'ERR_WEBASSEMBLY_NOT_SUPPORTED'

  constructor(message?: string) {
    super(message || 'WebAssembly is not supported in this environment, but is required for HTTP/1 parsing')
  }
}
defineKind(
  WebAssemblyNotSupportedError,
  'undici.error.ERR_WEBASSEMBLY_NOT_SUPPORTED',
  'WebAssemblyNotSupportedError',
)
