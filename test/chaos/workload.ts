/** The callers of a chaos run: their requests, how they observe the end, and their actions meanwhile. */
import type { BodyInput, DispatchController, Dispatcher, TrailersInput } from '../../src/index.ts'
import { type Call, DispatchCall, PromiseCall } from '../torture/call.ts'
import { callFetch } from './fetch-call.ts'
import type { Random } from './random.ts'
import { giveAway, holdsConnection, PARTLY, read, WHOLE } from './reader.ts'
import { answerTo, pathOf, trailersOf, uploadOf } from './traffic.ts'
import { isEmpty, makeUpload, methodOf, UPLOADS } from './upload.ts'

/** Reads the chunks and transfers their memory, as a program that passes them to a worker does. */
class GenerousCall extends DispatchCall {
  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    super.onResponseData(controller, chunk)
    giveAway(chunk)
  }
}

/** How much of an unread body is held. */
const ALL = 64 * 1024

export class Workload {
  readonly calls: Call[] = []
  /** The numbers of requests that an interceptor may send again, whatever has become of them. */
  readonly repeatable = new Set<number>()
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

  /** Sends one more request. `retries`: the dispatcher sends what is idempotent again. */
  issue(dispatcher: Dispatcher, retries: boolean): void {
    const random = this.#random
    const id = this.calls.length
    const kind = random.weighted(UPLOADS)
    const { body, afterwards } = makeUpload(kind, uploadOf(id), random)
    const options = {
      origin: this.#origin,
      path: pathOf(id),
      method: methodOf(kind, random),
      body,
      blocking: random.oneIn(2),
      trailers: isEmpty(kind) || !random.oneIn(5) ? null : makeTrailers(id, random),
      expectContinue: false,
    }
    if (retries && options.method !== 'POST') this.repeatable.add(id)
    const call = this.#call(dispatcher, id, options)
    afterwards()
    this.calls.push(call)
    this.#outstanding.add(call)
  }

  /** Aborts one of the pending requests. */
  abortOne(): boolean {
    const waiting = [...this.#outstanding].filter(({ isSettled }) => !isSettled)
    if (waiting.length === 0) return false
    this.#random.pick(waiting).abort()
    return true
  }

  #call(dispatcher: Dispatcher, id: number, options: RequestParameters): Call {
    const random = this.#random
    if (random.oneIn(3) && isFetchable(options)) {
      const parameters = { ...options, url: `${this.#origin}${options.path}` }
      return callFetch(dispatcher, `request ${id}`, parameters, answerTo(id), random)
    }
    return random.oneIn(2)
      ? this.#request(dispatcher, id, options)
      : this.#dispatch(dispatcher, id, options, random.oneIn(3))
  }

  #dispatch(dispatcher: Dispatcher, id: number, options: RequestParameters, pauses: boolean): DispatchCall {
    const Kind = this.#random.oneIn(3) ? GenerousCall : DispatchCall
    const call = new Kind(`request ${id}`, () => {}, { body: answerTo(id), pauses })
    dispatcher.dispatch(options, call)
    return call
  }

  #request(dispatcher: Dispatcher, id: number, options: RequestParameters): PromiseCall {
    const random = this.#random
    const isWhole = !random.oneIn(3)
    const way = isWhole ? random.weighted(WHOLE) : random.weighted(PARTLY)
    // While a body can be read, its signal can still abort it.
    const call = new PromiseCall(`request ${id} (${way})`, isWhole ? answerTo(id) : null, way !== 'unread')
    const highWaterMark = holdsConnection(way) ? random.pick([1, 1024, ALL]) : ALL
    dispatcher
      .request({ ...options, highWaterMark, signal: call.signal })
      .then(({ body }) => read(body, way, random))
      .then(
        (text) => {
          call.body = text
          call.settle()
        },
        (error: unknown) => call.settle(error),
      )
    return call
  }
}

/** Passed with the request, or returned at the end of the body, or later. */
function makeTrailers(id: number, random: Random): TrailersInput {
  const trailers = trailersOf(id)
  const way = random.below(3)
  if (way === 0) return trailers
  if (way === 1) return () => trailers
  return () => new Promise((resolve) => setImmediate(resolve, trailers))
}

/** `fetch` accepts no body with GET, and no stream that is not iterable. */
function isFetchable({ method, body }: RequestParameters): boolean {
  if (body === null) return true
  if (method === 'GET') return false
  return typeof body === 'string' || body instanceof Uint8Array || Symbol.asyncIterator in body
}

interface RequestParameters {
  readonly path: string
  readonly method: string
  readonly body: BodyInput | null
  readonly trailers: TrailersInput | null
}
