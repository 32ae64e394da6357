/**
 * What the errors of a request say beyond their class: which request, how far it had come, on what
 * connection, and whether it may be sent again. Only errors that the library or the runtime made are
 * described; a caller's own value (an abort reason, an error of a custom connector) is passed on untouched.
 */
import { HTTPParserError, type RequestErrorContext, type RequestPhase, UndiciError } from '../errors.ts'

/** Classes that speak of the caller's arguments or of the client's life, where a place says nothing. */
const SELF_EXPLANATORY = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
  'UND_ERR_ABORTED',
])

const DOING: Record<RequestPhase, string> = {
  queued: 'while waiting in the queue',
  connecting: 'while connecting',
  sending: 'while sending the request',
  headers: 'while waiting for the response head',
  body: 'while receiving the response body',
}

/**
 * Returns an error for this request. An error of the library is copied, because the one it is made from goes
 * to the client's events and perhaps to other requests; one of the runtime is used as it is for the first
 * request that ends with it.
 */
export function describeError(error: Error, context: RequestErrorContext): Error {
  const ours = error instanceof UndiciError || error instanceof HTTPParserError
  const used = Object.hasOwn(error, 'retrySafety') || !Object.isExtensible(error)
  const target = ours || used ? copy(error) : error
  const { socket, ...fields } = context
  Object.assign(target, fields)
  if (socket !== null || !('socket' in target)) Object.assign(target, { socket })
  if (ours && !SELF_EXPLANATORY.has(error.code ?? '')) target.message += ` (${words(context)})`
  // The first line of a stack is fixed when it is taken: taken again, it shows the whole message.
  if (target !== error) Error.captureStackTrace(target, describeError)
  return target
}

function words({ method, origin, path, phase, reusedSocket, socket }: RequestErrorContext): string {
  const connection =
    socket === null
      ? ''
      : ` on a ${reusedSocket ? 'reused' : 'new'} connection, ${socket.bytesWritten ?? 0} bytes sent and ${socket.bytesRead ?? 0} received`
  // CONNECT names another host, and an absolute URL another origin: what we talk to is then on the way.
  const target = path.startsWith('/') ? `${origin}${path}` : `${path} through ${origin}`
  return `${method} ${target} ${DOING[phase]}${connection}`
}

/** A real Error (the runtime can tell) of the same class with the same fields. */
function copy(error: Error): Error {
  const twin = new Error(error.message)
  Object.setPrototypeOf(twin, Object.getPrototypeOf(error) as object)
  const { stack: _, ...fields } = Object.getOwnPropertyDescriptors(error)
  Object.defineProperties(twin, fields)
  return twin
}
