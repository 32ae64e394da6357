/** The callers of a chaos run: what they ask for, how they hear of the end, and what they do meanwhile. */
import { Readable } from 'node:stream'
import type { Dispatcher } from '../../src/index.ts'
import { type Call, DispatchCall, PromiseCall } from '../torture/call.ts'
import type { Random } from './random.ts'
import { answerTo, pathOf, uploadOf } from './traffic.ts'

const BODIES = { none: 10, bytes: 5, stream: 3, iterator: 2 } as const

export class Workload {
  readonly calls: Call[] = []
  readonly #outstanding = new Set<Call>()
  readonly #random: Random
  readonly #origin: string

  constructor(random: Random, origin: string) {
    this.#random = random
    this.#origin = origin
  }

  get outstanding(): number {
    for (const call of this.#outstanding) if (call.isSettled) this.#outstanding.delete(call)
    return this.#outstanding.size
  }

  /** One more request. */
  issue(dispatcher: Dispatcher): void {
    const random = this.#random
    const id = this.calls.length
    const kind = random.weighted(BODIES)
    const options = {
      origin: this.#origin,
      path: pathOf(id),
      method: kind === 'none' ? 'GET' : random.pick(['POST', 'PUT']),
      body: this.#body(kind, uploadOf(id)),
      blocking: random.oneIn(2),
      expectContinue: false,
    }
    const call = random.oneIn(3)
      ? this.#request(dispatcher, id, options)
      : this.#dispatch(dispatcher, id, options, random.oneIn(3))
    this.calls.push(call)
    this.#outstanding.add(call)
  }

  /** Somebody who waits gives up. */
  abortOne(): boolean {
    const waiting = [...this.#outstanding].filter(({ isSettled }) => !isSettled)
    if (waiting.length === 0) return false
    this.#random.pick(waiting).abort()
    return true
  }

  #dispatch(dispatcher: Dispatcher, id: number, options: RequestParameters, pauses: boolean): DispatchCall {
    const call = new DispatchCall(`request ${id}`, () => {}, { body: answerTo(id), pauses })
    dispatcher.dispatch(options, call)
    return call
  }

  #request(dispatcher: Dispatcher, id: number, options: RequestParameters): PromiseCall {
    const call = new PromiseCall(`request ${id}`, answerTo(id))
    dispatcher
      .request({ ...options, signal: call.signal })
      .then(({ body }) => body.text())
      .then(
        (text) => {
          call.body = text
          call.settle()
        },
        (error: unknown) => call.settle(error),
      )
    return call
  }

  #body(kind: keyof typeof BODIES, upload: string): RequestParameters['body'] {
    if (kind === 'none') return null
    if (kind === 'bytes') return upload
    const parts = cut(upload, this.#random)
    return kind === 'iterator' ? iterator(parts) : Readable.from(parts).on('error', () => {})
  }
}

interface RequestParameters {
  readonly path: string
  readonly method: string
  readonly body: string | Readable | AsyncIterable<string> | null
}

function cut(text: string, random: Random): string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const size = random.between(1, text.length)
    parts.push(text.slice(at, at + size))
    at += size
  }
  return parts
}

async function* iterator(parts: readonly string[]): AsyncGenerator<string> {
  for (const part of parts) {
    await new Promise((resolve) => setImmediate(resolve))
    yield part
  }
}
