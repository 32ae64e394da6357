/** Drives whatever is built on `dispatch`: a dispatcher below whose events a test makes, and a handler that checks its calls. */
import type { Duplex } from 'node:stream'
import type { Dispatch } from '../../src/dispatcher/compose.ts'
import { Dispatcher } from '../../src/index.ts'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../../src/request/dispatch-handler.ts'
import type { DispatchOptions } from '../../src/request/dispatch-options.ts'

/**
 * `own`: as the dispatchers of this library. It announces the queue, reports an abort at once, fails a request whose handler
 * throws, and makes one final call. `foreign`: it announces nothing, only takes notice of an abort or a pause, lets an
 * exception out, and makes any call that the test asks for.
 */
export type Manner = 'own' | 'foreign'

/** The controller and the events of one request that reached the dispatcher below. */
export class ScriptedAttempt implements DispatchController {
  readonly opts: DispatchOptions
  readonly #handler: DispatchHandler
  readonly #manner: Manner
  readonly aborts: unknown[] = []
  /** What the handler's `onResponseError` threw, which a dispatcher has to report. */
  readonly thrownAtTheEnd: unknown[] = []
  state: 'waiting' | 'started' | 'over' = 'waiting'
  rawHeaders: Buffer[] | null = null
  rawTrailers: Buffer[] | null = null
  paused = false
  /** Runs in `resume()`: a dispatcher may deliver there at once. */
  onResume: (() => void) | null = null

  constructor(opts: DispatchOptions, handler: DispatchHandler, manner: Manner) {
    this.opts = opts
    this.#handler = handler
    this.#manner = manner
  }

  get aborted(): boolean {
    return this.aborts.length > 0
  }

  get reason(): Error | null {
    return (this.aborts[0] as Error) ?? null
  }

  readonly abort = (reason?: unknown): void => {
    this.aborts.push(reason)
    if (this.#manner === 'own') this.error((reason as Error) || new Error('aborted below'))
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
    this.onResume?.()
  }

  queued(): void {
    if (this.#manner === 'own' && this.state === 'waiting') {
      this.#call(() => this.#handler.onRequestQueued?.(this.abort))
    }
  }

  start(context: unknown = null): this {
    if (this.#manner === 'own' && this.state !== 'waiting') return this
    if (this.state === 'waiting') this.state = 'started'
    this.#call(() => this.#handler.onRequestStart?.(this, context))
    return this
  }

  sent(): this {
    this.#running(() => this.#handler.onRequestSent?.())
    return this
  }

  head(statusCode: number, headers: HeaderObject = {}): this {
    this.#running(() => this.#handler.onResponseStart?.(this, statusCode, headers, ''))
    return this
  }

  data(text: string): this {
    this.#running(() => this.#handler.onResponseData?.(this, Buffer.from(text)))
    return this
  }

  end(trailers: HeaderObject = {}): this {
    if (this.#isSettled || this.state === 'waiting') return this
    this.state = 'over'
    try {
      this.#handler.onResponseEnd?.(this, trailers)
    } catch (error) {
      if (this.#manner === 'foreign') throw error
      this.#report(error as Error)
    }
    return this
  }

  upgrade(socket: Duplex): this {
    if (this.#isSettled || this.state === 'waiting') {
      socket.destroy()
      return this
    }
    this.state = 'over'
    this.#handler.onRequestUpgrade?.(this, 101, {}, socket)
    return this
  }

  error(error: Error): this {
    if (this.#isSettled) return this
    const isStarted = this.state !== 'waiting'
    this.state = 'over'
    this.#report(error, isStarted)
    return this
  }

  get #isSettled(): boolean {
    return this.state === 'over' && this.#manner === 'own'
  }

  #report(error: Error, isStarted = true): void {
    try {
      this.#handler.onResponseError?.(isStarted ? this : null, error)
    } catch (thrown) {
      this.thrownAtTheEnd.push(thrown)
    }
  }

  #running(call: () => void): void {
    if (this.#manner === 'own' && this.state !== 'started') return
    this.#call(call)
  }

  #call(call: () => void): void {
    if (this.#manner === 'foreign') {
      call()
      return
    }
    if (this.state === 'over') return
    try {
      call()
    } catch (thrown) {
      this.error(thrown as Error)
    }
  }
}

export class ScriptedBelow {
  readonly attempts: ScriptedAttempt[] = []
  readonly #manner: Manner

  constructor(manner: Manner) {
    this.#manner = manner
  }

  readonly dispatch: Dispatch = (opts, handler) => {
    const attempt = new ScriptedAttempt(opts, handler, this.#manner)
    this.attempts.push(attempt)
    attempt.queued()
    return true
  }

  get last(): ScriptedAttempt {
    return this.attempts.at(-1)!
  }
}

/** A dispatcher of another make: it has `dispatch` alone. */
export function dispatcherOn(below: Dispatch): Dispatcher {
  return Object.assign(new Dispatcher(), { dispatch: below })
}

export type Method = 'onRequestQueued' | Exclude<keyof DispatchHandler, 'onRequestQueued' | 'onResponseBytes'>

/** What the handler does inside a call. */
export type Deed = (handler: CheckedHandler) => void

export const REASON = new Error('the caller gives up')

export const DEEDS: Readonly<Record<string, Deed>> = {
  throw: () => {
    throw new Error('thrown by the handler')
  },
  abort: (handler) => handler.abort(REASON),
  pause: ({ controller }) => controller?.pause(),
  resume: ({ controller }) => {
    controller?.pause()
    controller?.resume()
  },
}

export const METHODS: readonly Method[] = [
  'onRequestQueued',
  'onRequestStart',
  'onRequestSent',
  'onResponseStart',
  'onResponseData',
  'onResponseEnd',
  'onResponseError',
  'onRequestUpgrade',
]

const BODY_CALLS: readonly Method[] = ['onResponseData', 'onResponseEnd']
const FINAL_CALLS: readonly Method[] = ['onResponseEnd', 'onResponseError', 'onRequestUpgrade']

/** Notes every call, and each one that a handler must not get. */
export class CheckedHandler implements DispatchHandler {
  readonly calls: Method[] = []
  readonly violations: string[] = []
  readonly errors: unknown[] = []
  readonly thrown: unknown[] = []
  readonly statuses: number[] = []
  body = ''
  controller: DispatchController | null = null
  abortQueued: ((reason?: unknown) => void) | null = null
  #running: Method | null = null
  #finals = 0
  readonly #deeds: Partial<Record<Method, Deed>>

  constructor(deeds: Partial<Record<Method, Deed>> = {}) {
    this.#deeds = deeds
  }

  get settled(): boolean {
    return this.#finals > 0
  }

  /** Gives the request up by whatever it was given for that. */
  abort(reason?: unknown): void {
    if (this.controller !== null) this.controller.abort(reason)
    else this.abortQueued?.(reason)
  }

  #enter(method: Method): void {
    const within = this.#running
    const isNotice = method === 'onResponseError' || method === 'onRequestQueued'
    // The error of an abort comes within the call that aborts.
    if (within !== null && !isNotice) this.violations.push(`${method} within ${within}`)
    if (this.controller?.paused && BODY_CALLS.includes(method)) this.violations.push(`${method} while paused`)
    // What `onResponseEnd` throws is reported to the same handler.
    const isReport = method === 'onResponseError' && this.calls.at(-1) === 'onResponseEnd' && this.#hasThrown
    if (this.settled && !isReport) this.violations.push(`${method} after ${this.calls.at(-1)}`)
    if (FINAL_CALLS.includes(method)) this.#finals++
    this.calls.push(method)
    this.#hasThrown = false
    const deed = this.#deeds[method]
    if (deed === undefined) return
    this.#running = method
    try {
      deed(this)
    } catch (error) {
      this.#hasThrown = true
      this.thrown.push(error)
      throw error
    } finally {
      this.#running = within
    }
  }

  #hasThrown = false

  onRequestQueued(abort: (reason?: unknown) => void): void {
    this.abortQueued = abort
    this.#enter('onRequestQueued')
  }

  onRequestStart(controller: DispatchController): void {
    this.controller = controller
    this.#enter('onRequestStart')
  }

  onRequestSent(): void {
    this.#enter('onRequestSent')
  }

  onResponseStart(_controller: DispatchController, statusCode: number): void {
    this.statuses.push(statusCode)
    this.#enter('onResponseStart')
  }

  onResponseData(_controller: DispatchController, chunk: Buffer): void {
    this.body += chunk.toString()
    this.#enter('onResponseData')
  }

  onResponseEnd(): void {
    this.#enter('onResponseEnd')
  }

  onRequestUpgrade(
    _controller: DispatchController,
    _statusCode: number,
    _headers: HeaderObject,
    socket: Duplex,
  ): void {
    socket.destroy()
    this.#enter('onRequestUpgrade')
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    this.errors.push(error)
    this.#enter('onResponseError')
  }
}
