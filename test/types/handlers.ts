// Handlers of both generations, interceptors, events and errors. Compiled, never run.
import type { Duplex } from 'node:stream'
import {
  Client,
  type ConnectFunction,
  DecoratorHandler,
  type DispatchController,
  Dispatcher,
  type DispatchHandler,
  errors,
  type Interceptor,
  type LegacyDispatchHandler,
  type RetrySafety,
} from '../../src/index.ts'
import type { Equal } from './equal.ts'

const client = new Client('http://localhost')
const get = { path: '/', method: 'GET' } as const

const newer: DispatchHandler = {
  onRequestStart(controller, context) {
    context.started = true
    controller.abort()
    // @ts-expect-error: a property to read, not to set
    controller.aborted = true
  },
  onResponseStart: (_controller, statusCode, headers, statusText) =>
    void [statusCode + 1, headers['a'], statusText],
  onResponseData: (_controller, chunk) => void chunk.readUInt8(0),
  onRequestUpgrade: (_controller, _statusCode, _headers, socket) => void socket.end(),
  onResponseError(controller, error) {
    // @ts-expect-error: a request that never started has no controller
    controller.abort()
    void error.message
  },
}
const older: LegacyDispatchHandler = {
  onConnect: (abort) => abort(new Error('x')),
  onHeaders: (statusCode, rawHeaders, resume) => [statusCode, rawHeaders, resume].length > 0,
  onData: (chunk) => chunk.length > 0,
  onComplete: (rawTrailers) => void rawTrailers.length,
  onError: (error) => void error.message,
}
client.dispatch(get, newer)
client.dispatch(get, older)
// @ts-expect-error: no handler has such a method
client.dispatch(get, { onNothing() {} })
// @ts-expect-error: and none with such an argument
client.dispatch(get, { onResponseData(_controller: DispatchController, _chunk: string) {} })

export class Counting extends DecoratorHandler {
  bytes = 0
  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length
    super.onResponseData(controller, chunk)
  }
}

const tagging: Interceptor = (dispatch) => (opts, handler) =>
  dispatch({ ...opts, headers: { tag: opts.path } }, new Counting(handler))
const composed: Equal<ReturnType<typeof client.compose>, Client> = true
client.compose(tagging, null, undefined).pipelining = 2
client.compose([tagging] as const)
// @ts-expect-error: no interceptor
client.compose('tagging')

/** The minimum for the other five methods. */
export class Elsewhere extends Dispatcher {
  override dispatch(_opts: Dispatcher.DispatchOptions, handler: DispatchHandler): boolean {
    handler.onResponseError?.(null, new Error('nobody is here'))
    return true
  }
}

client.on('connect', (origin, targets) => void [origin.href, targets.length])
client.once('disconnect', (_origin, _targets, error) => void error.message)
client.off('drain', () => {})
client.on('ping', (milliseconds) => void milliseconds.toFixed())
client.on('an event of my own', (anything) => void anything)

export const open: ConnectFunction = (options, callback) => {
  const port: string = options.port
  if (port === '') callback(new Error('no port'))
  else callback(null, {} as Duplex)
}

export function reason(error: unknown): RetrySafety | string | undefined {
  if (error instanceof errors.SocketError) return error.socket?.remoteAddress
  if (error instanceof errors.UndiciError) return error.retrySafety
  return undefined
}
void composed
