/**
 * Each interceptor with each way to send a request, over both protocols: whatever becomes of the request, its handler gets
 * one final call, its caller the right outcome, the next request is served, and nothing is left.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  Agent,
  type AgentOptions,
  DecoratorHandler,
  type DispatchController,
  type Dispatcher,
  type Interceptor,
  interceptors,
} from '../../src/index.ts'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import { deferred, failure } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { Telemetry } from '../support/telemetry.ts'
import { type Wire, wireOptions } from '../support/wire.ts'
import { type Call, callers, Reader } from './matrix-calls.ts'
import { LARGE, type MatrixOrigin, SMALL, startMatrixOrigin } from './matrix-origin.ts'
import { overTwoWires } from './two-wires.ts'

interface Row {
  make(): Interceptor
  /** Before the path: what makes the interceptor act, where the request can be repeated. */
  readonly prefix?: string
  readonly host?: string
  /** The body of a response as its caller gets it. */
  readonly body?: (text: string) => string
  /** What an abort leaves to the server, which ends it. */
  readonly readsOn?: true
}

const rows: Record<string, Row> = {
  auth: { make: () => interceptors.auth({ bearer: async () => 't', origins: () => true }), prefix: '/shut' },
  cache: { make: () => interceptors.cache() },
  circuitBreaker: { make: () => interceptors.circuitBreaker({ minRequests: 1 }) },
  compress: { make: () => interceptors.compress({ minSize: 0 }) },
  cookies: { make: () => interceptors.cookies() },
  decompress: { make: () => interceptors.decompress(), prefix: '/gzip' },
  deduplicate: { make: () => interceptors.deduplicate() },
  dns: {
    make: () =>
      interceptors.dns({
        lookup: (_origin, _options, callback) =>
          void setImmediate(callback, null, [{ address: '127.0.0.1', family: 4 }]),
      }),
    host: 'api.test',
  },
  dump: { make: () => interceptors.dump(), body: () => '', readsOn: true },
  guard: { make: () => interceptors.guard({ allow: ['localhost'] }) },
  hedge: { make: () => interceptors.hedge({ delay: 0 }) },
  metrics: { make: () => interceptors.metrics({ meter: new Telemetry().meter, details: true }) },
  redirect: { make: () => interceptors.redirect({ maxRedirections: 1 }), prefix: '/hop' },
  responseError: { make: () => interceptors.responseError() },
  retry: { make: () => interceptors.retry({ minTimeout: 1, jitter: 0 }), prefix: '/flaky' },
  throttle: { make: () => interceptors.throttle({ concurrency: 1 }) },
}

test('the list is complete', () => {
  assert.deepEqual(Object.keys(rows), Object.keys(interceptors).sort())
})

/** What the handler of one request got. */
interface Seen {
  finals: number
  late: number
  bytes: number
}

/** Outermost: sees the calls that the handler of the caller gets. */
class Watch extends DecoratorHandler {
  readonly #seen: Seen

  constructor(handler: ConstructorParameters<typeof DecoratorHandler>[0], seen: Seen) {
    super(handler)
    this.#seen = seen
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText: string,
  ): void {
    if (this.#seen.finals > 0) this.#seen.late++
    super.onResponseStart(controller, statusCode, headers, statusText)
  }

  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    if (this.#seen.finals > 0) this.#seen.late++
    this.#seen.bytes += chunk.length
    super.onResponseData(controller, chunk)
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.#seen.finals++
    super.onResponseEnd(controller, trailers)
  }

  override onResponseError(controller: DispatchController, error: Error): void {
    this.#seen.finals++
    super.onResponseError(controller, error)
  }
}

class Stage {
  readonly #wire: Wire
  readonly #row: Row
  readonly seen: Seen[] = []
  #agent: Agent | null = null
  #dispatcher: Dispatcher | null = null
  #count = 0

  constructor(wire: Wire, row: Row) {
    this.#wire = wire
    this.#row = row
  }

  start(): void {
    this.#agent = new Agent(wireOptions(this.#wire) as AgentOptions)
    const watching: Interceptor = (dispatch) => (opts, handler) => {
      const seen: Seen = { finals: 0, late: 0, bytes: 0 }
      this.seen.push(seen)
      return dispatch(opts, new Watch(handler, seen))
    }
    this.#dispatcher = this.#agent.compose(this.#row.make(), watching)
  }

  async stop(): Promise<void> {
    await this.#agent!.destroy()
  }

  /** `kind` is what the origin does. A request that cannot be repeated goes without the prefix. */
  call(kind: string, origin: MatrixOrigin, canRepeat: boolean): Call & { target: string } {
    const { prefix = '', host = 'localhost' } = this.#row
    const path = `/${kind}/${this.#count++}`
    const isActing = canRepeat || prefix === '/gzip'
    return {
      dispatcher: this.#dispatcher!,
      origin: `http://${host}:${origin.port}`,
      path: isActing ? prefix + path : path,
      // The path of the last request of a chain.
      target: isActing && prefix !== '/hop' ? prefix + path : path,
    }
  }

  /** What must hold when a request is over. */
  async leave(origin: MatrixOrigin): Promise<void> {
    const { body = (text: string) => text, readsOn } = this.#row
    assert.equal(await callers['request']!(this.call('small', origin, true)), body(SMALL), 'the next request')
    await origin.idle(readsOn === true)
    const stats = (): { running: number; pending: number }[] => Object.values(this.#agent!.stats)
    await eventually(() => stats().every(({ running, pending }) => running + pending === 0))
    const outcomes = this.seen.map(({ finals, late }) => ({ finals, late }))
    assert.deepEqual(
      outcomes,
      outcomes.map(() => ({ finals: 1, late: 0 })),
      'one final call each',
    )
    this.seen.length = 0
  }
}

/** Timers that keep the process alive. */
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

/** `fetch` wraps the error of a request body. */
const reasonOf = (error: Error, isFetch: boolean): unknown =>
  isFetch && error.name === 'TypeError' ? error.cause : error

overTwoWires('interceptors with every caller', (wire) => {
  let origin: MatrixOrigin
  const cleanup: (() => Promise<void> | void)[] = []
  before(async () => {
    origin = await startMatrixOrigin({ after: (run) => void cleanup.push(run as () => void) }, wire)
  })
  after(async () => {
    for (const run of cleanup) await run()
  })

  for (const [name, row] of Object.entries(rows)) {
    describe(name, () => {
      const stage = new Stage(wire, row)
      let timersBefore = 0
      before(() => {
        timersBefore = timers()
        stage.start()
      })
      after(async () => {
        await stage.stop()
        await eventually(() => timers() <= timersBefore, 'no timer is left')
      })
      for (const api of Object.keys(callers)) defineCases(api, stage, row, () => origin)
    })
  }
})

function defineCases(
  api: string,
  stage: Stage,
  { body = (text) => text }: Row,
  at: () => MatrixOrigin,
): void {
  const send = callers[api]!
  const isFetch = api === 'fetch'
  // The body of a pipeline is a stream, even if it is empty.
  const canRepeat = api !== 'pipeline'

  test(`${api}: success, of two at a time and of another one`, async () => {
    const call = stage.call('small', at(), canRepeat)
    assert.deepEqual(await Promise.all([send(call), send(call)]), [body(SMALL), body(SMALL)])
    assert.equal(await send(call), body(SMALL))
    await stage.leave(at())
  })

  test(`${api}: abort before the response`, async () => {
    const { target, ...call } = stage.call('silent', at(), canRepeat)
    const controller = new AbortController()
    const reason = new Error('enough')
    const failed = failure(send({ ...call, signal: controller.signal }))
    await at().reached(target)
    controller.abort(reason)
    assert.equal(await failed, reason)
    await stage.leave(at())
  })

  test(`${api}: abort in the body`, async () => {
    const { target, ...call } = stage.call('unfinished', at(), canRepeat)
    const controller = new AbortController()
    const reason = new Error('enough')
    const reader = Reader.flowing()
    const failed = failure(send({ ...call, signal: controller.signal, reader }))
    await at().reached(target)
    // A response that is thrown away has no chunks.
    if (body(LARGE) !== '') await reader.first.promise
    controller.abort(reason)
    assert.equal(await failed, reason)
    await stage.leave(at())
  })

  test(`${api}: a reader that stops, and goes on`, async () => {
    const call = stage.call('large', at(), canRepeat)
    const reader = new Reader()
    const done = send({ ...call, reader })
    if (body(LARGE) !== '') {
      await reader.first.promise
      await turns(20)
      const bytes = Math.max(...stage.seen.map((seen) => seen.bytes))
      assert.ok(bytes < LARGE.length, 'all was delivered to a reader that takes nothing')
    }
    reader.mayGoOn.resolve()
    assert.equal((await done) === body(LARGE), true)
    await stage.leave(at())
  })

  test(`${api}: a request body that fails`, async () => {
    const { target, ...call } = stage.call('silent', at(), false)
    const error = new Error('the file is gone')
    const when = deferred()
    const failed = failure(send({ ...call, failing: { when: when.promise, error } }))
    await at().reached(target)
    when.resolve()
    assert.equal(reasonOf(await failed, isFetch), error)
    await stage.leave(at())
  })
}
