/** A caller's request in a scenario, and how the caller observes its end. */
import { getEventListeners } from 'node:events'
import type { Duplex } from 'node:stream'
import type { DispatchController, DispatchHandler } from '../../src/index.ts'
import { type EventKind, InjectedError } from './fault.ts'

/** Numbers the events of a run. Throws if the caller is to throw at this event. */
export type Mark = (kind: EventKind, name: string) => void

export interface Call {
  readonly name: string
  readonly isSettled: boolean
  /** Why it failed; null if it did not. */
  readonly error: unknown
  abort(): void
  /** Closes the caller's result, which is no longer needed. */
  release(): void
  /** The problems with this call, at the end of the run. */
  problems(): string[]
}

type Method = Exclude<keyof DispatchHandler, 'onRequestQueued'>

const FINAL: readonly Method[] = ['onResponseEnd', 'onResponseError', 'onRequestUpgrade']

export interface DispatchCallOptions {
  /** The only correct response body; null for any. */
  readonly body?: string | null
  /** Pauses after each head and each piece, and resumes a turn later. */
  readonly pauses?: boolean
}

/** A handler passed to `dispatch()`. */
export class DispatchCall implements Call, DispatchHandler {
  readonly name: string
  readonly calls: Method[] = []
  error: unknown = null
  status = 0
  body = ''
  /** The methods that were made to throw. */
  readonly #thrown: Method[] = []
  readonly #mark: Mark
  readonly #expected: string | null
  readonly #pauses: boolean
  #controller: DispatchController | null = null
  #abortQueued: ((reason: unknown) => void) | null = null
  #socket: Duplex | null = null

  constructor(name: string, mark: Mark, { body = null, pauses = false }: DispatchCallOptions) {
    this.name = name
    this.#mark = mark
    this.#expected = body
    this.#pauses = pauses
  }

  get isSettled(): boolean {
    return this.calls.some((call) => FINAL.includes(call)) && (this.#socket?.destroyed ?? true)
  }

  get isComplete(): boolean {
    return this.calls.at(-1) === 'onResponseEnd'
  }

  abort(): void {
    const reason = new InjectedError('abort')
    if (this.#controller !== null) this.#controller.abort(reason)
    else this.#abortQueued?.(reason)
  }

  release(): void {
    this.#socket?.destroy()
  }

  onRequestQueued(abort: (reason?: unknown) => void): void {
    this.#abortQueued = abort
  }

  onRequestStart(controller: DispatchController): void {
    this.#controller = controller
    this.body = ''
    this.#note('onRequestStart')
  }

  onBodySent(): void {
    this.#note('onBodySent')
  }

  onRequestSent(): void {
    this.#note('onRequestSent')
  }

  onResponseStarted(): void {
    this.#note('onResponseStarted')
  }

  onResponseStart(controller: DispatchController, status: number): void {
    this.status = status
    if (status >= 200) this.#pause(controller)
    this.#note('onResponseStart')
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.body += chunk.toString('latin1')
    this.#pause(controller)
    this.#note('onResponseData')
  }

  onResponseEnd(): void {
    this.#note('onResponseEnd')
  }

  onRequestUpgrade(_: DispatchController, status: number, __: unknown, socket: Duplex): void {
    this.status = status
    this.#socket = socket
    // From here on it is the responsibility of this caller.
    socket.on('error', () => {})
    this.#note('onRequestUpgrade')
    socket.on('data', () => socket.destroy())
    socket.on('end', () => socket.destroy())
    socket.write('through the tunnel')
  }

  onResponseError(_: unknown, error: Error): void {
    this.error = error
    this.#note('onResponseError')
  }

  #pause(controller: DispatchController): void {
    if (!this.#pauses) return
    controller.pause()
    setImmediate(() => controller.resume())
  }

  #note(method: Method): void {
    this.calls.push(method)
    try {
      this.#mark('callback', `${this.name}.${method}`)
    } catch (error) {
      this.#thrown.push(method)
      throw error
    }
  }

  problems(): string[] {
    const problems: string[] = []
    const finals = this.calls.filter((call) => FINAL.includes(call)).join()
    // An error may follow the end only if the handler threw at the end (docs/handlers.md).
    const allowed: readonly string[] = this.#thrown.includes('onResponseEnd')
      ? ['onResponseEnd,onResponseError']
      : FINAL
    if (!allowed.includes(finals)) problems.push(`final calls: ${finals || 'none'}`)
    const first = this.calls.findIndex((call) => FINAL.includes(call))
    const late = this.calls.slice(first + 1).filter((call) => call !== 'onResponseError')
    if (first !== -1 && late.length > 0) problems.push(`after the final call: ${late.join()}`)
    if (this.isComplete && this.#expected !== null && this.body !== this.#expected) {
      problems.push(`wrong body: ${JSON.stringify(this.body)}`)
    }
    return problems.map((problem) => `${this.name}: ${problem} (${this.calls.join(' ')})`)
  }
}

/** A call of one of the promise methods. */
export class PromiseCall implements Call {
  readonly name: string
  readonly #aborter = new AbortController()
  readonly #expected: string | null
  settlements = 0
  error: unknown = null
  body = ''
  /** The results that the caller has to close. */
  given: { destroy(): void } | null = null
  /** The caller's streams that must be closed at the end. */
  readonly streams: { readonly name: string; readonly destroyed: boolean }[] = []
  /** Whether the library promises to remove its listeners from the signal. */
  readonly checksSignal: boolean

  constructor(name: string, expected: string | null = null, checksSignal = true) {
    this.name = name
    this.#expected = expected
    this.checksSignal = checksSignal
  }

  get signal(): AbortSignal {
    return this.#aborter.signal
  }

  get isSettled(): boolean {
    return this.settlements > 0
  }

  settle(error: unknown = null): void {
    this.settlements++
    this.error ??= error
  }

  abort(): void {
    this.#aborter.abort(new InjectedError('abort'))
  }

  release(): void {
    this.given?.destroy()
  }

  problems(): string[] {
    const problems: string[] = []
    if (this.settlements !== 1) problems.push(`settled ${this.settlements} times`)
    if (this.error === null && this.#expected !== null && this.body !== this.#expected) {
      problems.push(`wrong body: ${JSON.stringify(this.body)}`)
    }
    const listeners = this.checksSignal ? getEventListeners(this.signal, 'abort').length : 0
    if (listeners > 0) problems.push(`${listeners} listeners left on the signal`)
    for (const { name, destroyed } of this.streams) if (!destroyed) problems.push(`${name} is left open`)
    return problems.map((problem) => `${this.name}: ${problem}`)
  }
}
