/**
 * The context that errors of a request carry beyond their class: which request, how far it had come, on which
 * connection, and whether it may be sent again. It is in properties and in the first line of `stack`, which
 * consoles and loggers print; never in `message`, which people compare, group by, and pass on to their own
 * clients. Only errors that the library or the runtime made are described; a value of the caller (an abort
 * reason, an error of a custom connector) is passed on untouched.
 */
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
  const ours = isOurs(error)
  const used = Object.hasOwn(error, 'retrySafety') || !Object.isExtensible(error)
  const target = ours || used ? copy(error) : error
  const { socket, ...fields } = context
  Object.assign(target, fields)
  if (socket !== null || !('socket' in target)) Object.assign(target, { socket })
  if (target !== error) shareStack(target, error, ours ? context : null)
  return target
}

/** The error of a reset stream has the class of the runtime's, and is made here. */
function isOurs(error: Error): boolean {
  return (
    error instanceof UndiciError || error instanceof HTTPParserError || Object.hasOwn(error, 'http2ErrorCode')
  )
}

/**
 * Gives a copy the stack of the error it is made from, which shows where that one was made. It is formatted
 * when it is asked for, as every stack is: most are never read, and formatting one costs more than the copy.
 */
function shareStack(target: Error, error: Error, context: RequestErrorContext | null): void {
  // To define a property reads what was there before, and Node 20 formats the stack for that.
  delete target.stack
  Object.defineProperty(target, 'stack', {
    configurable: true,
    get: () => (context === null ? error.stack : withContext(error, context)),
    set(value: unknown) {
      Object.defineProperty(this, 'stack', { value, configurable: true, writable: true })
    },
  })
}

/** A stack that a caller's `Error.prepareStackTrace` made in another form stays as it is. */
function withContext(error: Error, context: RequestErrorContext): unknown {
  const stack: unknown = error.stack
  if (typeof stack !== 'string') return stack
  const [line] = error.message.split('\n', 1) as [string]
  const end = stack.indexOf(line) + line.length
  const endsThere = stack.startsWith('\n', end) || stack.length === end
  return endsThere ? `${stack.slice(0, end)} (${words(context)}${step(error)})${stack.slice(end)}` : stack
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

/** The part of a path that errors show: neither the query nor a user's name and password. */
export function shownPath(path: string): string {
  const [place] = path.split(/[?#]/, 1) as [string]
  return place.replace(/\/\/[^/]*@/, '//').replace(/^[^/]*@/, '')
}
