/** An origin without a network for tests of the cache: a dispatch function that answers from a script, and a clock. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cache } from '../../src/cache/interceptor.ts'
import type { CacheOptions } from '../../src/cache/options.ts'
import type { CacheStore } from '../../src/cache/store/cache-store.ts'
import type { Dispatch } from '../../src/dispatcher/compose.ts'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../../src/request/dispatch-handler.ts'
import type { DispatchOptions } from '../../src/request/dispatch-options.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

export const ORIGIN = 'http://origin.test'

export interface Answer {
  readonly status?: number
  readonly headers?: HeaderObject
  readonly body?: string | readonly (string | Buffer)[]
  /** Informational heads before the final one. */
  readonly informational?: readonly number[]
  /** Fails instead, or after the body if there is a status. */
  readonly error?: Error
  /** It ends after that. */
  readonly end?: Promise<unknown>
}

/** What the origin received. */
export interface Received {
  readonly opts: DispatchOptions
  readonly method: string
  readonly path: string
  readonly headers: HeaderObject
}

export interface Clock {
  now: number
  advance(milliseconds: number): void
}

const realNow = Date.now

/** Replaces `Date.now` until the test ends. A test may do it again. */
export function installDate(t: Pick<TestContext, 'after'>, start = Date.UTC(2026, 0, 1)): Clock {
  const clock: Clock = {
    now: start,
    advance(milliseconds) {
      clock.now += milliseconds
    },
  }
  Date.now = () => clock.now
  t.after(() => {
    Date.now = realNow
  })
  return clock
}

type Script = (request: Received) => Answer | Promise<Answer>

class TestController implements DispatchController {
  aborted = false
  paused = false
  reason: Error | null = null
  rawHeaders: Buffer[] | null = null
  readonly #onAbort: (reason: unknown) => void
  readonly #onResume: () => void

  constructor(onAbort: (reason: unknown) => void, onResume: () => void) {
    this.#onAbort = onAbort
    this.#onResume = onResume
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason as Error
    this.#onAbort(reason)
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.#onResume()
  }
}

/** A dispatch function that behaves as a dispatcher does: never within the call, exactly one final call. */
export function scripted(script: Script): { dispatch: Dispatch; received: Received[]; aborts: unknown[] } {
  const received: Received[] = []
  const aborts: unknown[] = []
  const dispatch: Dispatch = (opts, handler) => {
    const request: Received = {
      opts,
      method: opts.method,
      path: opts.path,
      headers: (opts.headers ?? {}) as HeaderObject,
    }
    received.push(request)
    void run(script, request, handler, aborts)
    return true
  }
  return { dispatch, received, aborts }
}

async function run(
  script: Script,
  request: Received,
  handler: DispatchHandler,
  aborts: unknown[],
): Promise<void> {
  let settled = false
  const fail = (error: Error): void => {
    if (settled) return
    settled = true
    handler.onResponseError?.(controller, error)
  }
  let resumed = (): void => {}
  const controller = new TestController(
    (reason) => {
      aborts.push(reason)
      fail((reason ?? Object.assign(new Error('aborted'), { name: 'AbortError' })) as Error)
    },
    () => resumed(),
  )
  handler.onRequestQueued?.((reason) => controller.abort(reason))
  await null
  if (settled) return
  try {
    handler.onRequestStart?.(controller, null)
    const answer = await script(request)
    for (const status of answer.informational ?? []) {
      if (!settled) handler.onResponseStart?.(controller, status, {}, '')
    }
    if (settled) return
    if (answer.error !== undefined && answer.status === undefined) return fail(answer.error)
    handler.onResponseStart?.(controller, answer.status ?? 200, { ...answer.headers }, 'OK')
    const bodies = typeof answer.body === 'string' ? [answer.body] : (answer.body ?? [])
    for (const part of bodies) {
      while (controller.paused && !settled) {
        await new Promise<void>((resolve) => {
          resumed = resolve
        })
      }
      if (settled) return
      handler.onResponseData?.(controller, Buffer.from(part as string))
    }
    if (answer.end !== undefined) await answer.end
    if (settled) return
    if (answer.error !== undefined) return fail(answer.error)
    settled = true
    handler.onResponseEnd?.(controller, {})
  } catch (error) {
    fail(error as Error)
  }
}

export interface CachedOrigin {
  readonly received: Received[]
  readonly aborts: unknown[]
  readonly dispatch: Dispatch
  /** Sends a request, and waits for its end. */
  get(path?: string, headers?: HeaderObject, more?: Partial<DispatchOptions>): Promise<RecordingHandler>
}

/** A cache in front of a scripted origin. */
export function cached(script: Script | Answer, options: CacheOptions = {}): CachedOrigin {
  const origin = scripted(typeof script === 'function' ? script : () => script)
  const dispatch = cache(options)(origin.dispatch)
  return {
    received: origin.received,
    aborts: origin.aborts,
    dispatch,
    get: (path = '/', headers = {}, more = {}) => {
      const handler = new RecordingHandler()
      dispatch(
        { origin: ORIGIN, path, method: 'GET', headers: headers as Record<string, string>, ...more },
        handler,
      )
      return handler.settled
    },
  }
}

/** Turns of the event loop, for what stores and background requests do. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}

export function httpDate(time: number): string {
  return new Date(time).toUTCString()
}

/** The response that is got first answers for this long, and not a millisecond longer. */
export async function assertFreshFor(
  milliseconds: number,
  origin: CachedOrigin,
  clock: Clock,
): Promise<void> {
  await origin.get()
  clock.advance(milliseconds - 1)
  await origin.get()
  assert.equal(origin.received.length, 1, 'fresh to the end')
  clock.advance(1)
  await origin.get()
  assert.equal(origin.received.length, 2, 'stale then')
}

/** A page that is `old` until a POST makes it `new`. */
export function changingPage(store: CacheStore): CachedOrigin {
  let page = 'old'
  const script: Script = ({ method }) => {
    if (method === 'POST') page = 'new'
    return { headers: { 'cache-control': 'max-age=60' }, body: page }
  }
  return cached(script, { store })
}

/** Whether two requests share a response: one or two are sent. */
export function sharingTests(rows: readonly (readonly [a: object, b: object, sent: number])[]): void {
  for (const [a, b, sent] of rows) {
    test(`${JSON.stringify(a)} and ${JSON.stringify(b)}: ${sent === 1 ? 'one' : 'two'}`, async () => {
      const origin = cached({ headers: { 'cache-control': 'max-age=60' }, body: 'x' })
      await origin.get('/', {}, a)
      await origin.get('/', {}, b)
      assert.equal(origin.received.length, sent)
    })
  }
}
