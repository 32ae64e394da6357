/**
 * The context that errors of a request carry beyond their class: which request, how far it had come, on which
 * connection, and whether it may be sent again. It is in properties and in the first line of `stack`, which
 * consoles and loggers print; never in `message`, which people compare, group by, and pass on to their own
 * clients. Only errors that the library or the runtime made are described; a value of the caller (an abort
 * reason, an error of a custom connector) is passed on untouched.
 */
import { defineStack, ownStack, withWords } from '../base/error/first-line.ts'
import {
  HTTPParserError,
  type ProxyErrorInfo,
  type RequestErrorContext,
  type RequestPhase,
  UndiciError,
} from '../errors.ts'

const DOING: Record<RequestPhase, string> = {
  queued: 'while waiting in the queue',
  connecting: 'while connecting',
  sending: 'while sending the request',
  headers: 'while waiting for the response head',
  body: 'while receiving the response body',
}

/**
 * Returns an error for this request. A value that cannot be described is returned as it is: a caller's socket
 * may be destroyed with a string, or with an error whose fields cannot be written, and its requests have to
 * fail all the same.
 */
export function describeError(error: Error, context: RequestErrorContext): Error {
  try {
    return withFields(error, context)
  } catch {
    return error
  }
}

/**
 * An error of the library is copied, because the one it is made from goes to the client's events and perhaps
 * to other requests; one of the runtime is used as it is for the first request that ends with it.
 */
function withFields(error: Error, context: RequestErrorContext): Error {
  const used = Object.hasOwn(error, 'retrySafety') || !Object.isExtensible(error)
  const target = isOurs(error) || used ? copy(error) : error
  const { socket, ...fields } = context
  const stack = plainStacks.get(error) ?? (target === error ? ownStack(error) : () => error.stack)
  Object.assign(target, fields)
  if (socket !== null || !('socket' in target)) Object.assign(target, { socket })
  if (target === error) plainStacks.set(error, stack)
  defineStack(target, () =>
    withWords(stack(), error.message, `${words(context)}${step(error)}${hint(error, context)}`),
  )
  return target
}

/**
 * The same for an error that was made between a dispatcher and a caller, by a layer that knows less: which request
 * it is about, unless the error says so itself. It stays the same error, which a hook may have thrown; another
 * request that ends with it gets a copy.
 */
export function nameRequest(
  error: Error,
  request: Pick<RequestErrorContext, 'method' | 'origin' | 'path'>,
  text: string,
): Error {
  try {
    const known = namedStacks.get(error)
    if (known === undefined && (Object.hasOwn(error, 'method') || !(isOurs(error) || isOfDecoder(error))))
      return error
    const target = known === undefined ? error : copy(error)
    const stack = known ?? ownStack(error)
    Object.assign(target, request)
    if (target === error) namedStacks.set(error, stack)
    defineStack(target, () => withWords(stack(), error.message, text))
    return target
  } catch {
    return error
  }
}

const namedStacks = new WeakMap<Error, () => unknown>()

/** The codes of zlib, Brotli and Zstandard in the runtime. */
function isOfDecoder(error: NodeJS.ErrnoException): boolean {
  return typeof error.errno === 'number' && /^(?:Z_|ERR__?ERROR_|ZSTD_)/.test(error.code ?? '')
}

/** Of the errors of the runtime that were given a context: another request may end with the same one. */
const plainStacks = new WeakMap<Error, () => unknown>()

/** The error of a reset stream has the class of the runtime's, and is made here. */
function isOurs(error: Error): boolean {
  return (
    error instanceof UndiciError || error instanceof HTTPParserError || Object.hasOwn(error, 'http2ErrorCode')
  )
}

function words({ method, origin, path, phase, reusedSocket, socket }: RequestErrorContext): string {
  const connection =
    socket === null
      ? ''
      : ` on a ${reusedSocket ? 'reused' : 'new'} connection, ${socket.bytesWritten ?? 0} bytes sent and ${socket.bytesRead ?? 0} received`
  // CONNECT names another host, and an absolute URL another origin: we talk to something in between.
  const target = path.startsWith('/') ? `${origin}${path}` : `${path} through ${origin}`
  return `${method} ${target} ${DOING[phase]}${connection}`
}

/** Which proxy on the way failed, and how far it had come. */
function step({ proxy }: Error & { proxy?: ProxyErrorInfo }): string {
  return proxy ? `, at ${proxy.phase} of the proxy ${proxy.uri}` : ''
}

/**
 * The first bytes of a TLS record that has an alert: its type, and the version (RFC 8446 §5.1). A server that
 * expects a handshake answers a request with one.
 */
const TLS_ALERT = '\x15\x03'

/** The other protocol at this port: a mistake in the URL that no code names. */
function hint(error: Error, { origin, phase, reusedSocket, socket }: RequestErrorContext): string {
  const { code, data } = error as NodeJS.ErrnoException & { data?: unknown }
  if (origin.startsWith('https:')) {
    const isPlain = phase === 'connecting' && code === 'ERR_SSL_WRONG_VERSION_NUMBER'
    return isPlain ? ', the port does not speak TLS: is it one for http?' : ''
  }
  if (typeof data === 'string' && data.startsWith(TLS_ALERT)) {
    return ', the port speaks TLS: is it one for https?'
  }
  // Servers on OpenSSL, such as those of Node.js, close the connection without a word.
  const isSilent = phase === 'headers' && !reusedSocket && socket?.bytesRead === 0
  return isSilent && code === 'UND_ERR_SOCKET' ? ': is the port one for https?' : ''
}

/**
 * A real Error (the runtime can detect that) of the same class with the same fields. The stack is left out:
 * on some runtimes reading its descriptor formats it.
 */
function copy(error: Error): Error {
  const twin = new Error(error.message)
  Object.setPrototypeOf(twin, Object.getPrototypeOf(error) as object)
  for (const key of Reflect.ownKeys(error)) {
    if (key !== 'stack') Object.defineProperty(twin, key, Object.getOwnPropertyDescriptor(error, key)!)
  }
  return twin
}
