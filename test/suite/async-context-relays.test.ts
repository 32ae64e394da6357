/**
 * Every function of a caller runs in the AsyncLocalStorage context of its own call, also behind interceptors, and although
 * somebody else resumes or aborts the request in another one.
 */
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { CookieJar, type DispatchController, type Dispatcher, interceptors } from '../../src/index.ts'
import { answer, check, NotingHandler, type Stage, storage } from '../support/call-contexts.ts'
import { Telemetry } from '../support/telemetry.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

const CODED = gzipSync('x'.repeat(200_000))

const INTERCEPTORS: Record<string, () => Parameters<Dispatcher['compose']>[0]> = {
  auth: () => interceptors.auth({ bearer: async () => 't' }),
  cache: () => interceptors.cache(),
  circuitBreaker: () => interceptors.circuitBreaker(),
  compress: () => interceptors.compress({ minSize: 0 }),
  cookies: () => interceptors.cookies({ jar: new CookieJar() }),
  decompress: () => interceptors.decompress(),
  deduplicate: () => interceptors.deduplicate(),
  dump: () => interceptors.dump(),
  hedge: () => interceptors.hedge({ delay: 1 }),
  metrics: () => interceptors.metrics({ meter: new Telemetry().meter, details: true }),
  redirect: () => interceptors.redirect({ maxRedirections: 2 }),
  responseError: () => interceptors.responseError(),
  retry: () => interceptors.retry(),
  throttle: () => interceptors.throttle({ concurrency: 1 }),
}

/** Acts in another context, after the present call. */
function other(verb: string, act: () => void): void {
  storage.run(`the one who ${verb}`, () => setImmediate(act))
}

/** Somebody else takes part in the request. */
class DisturbedHandler extends NotingHandler {
  readonly #how: 'resumed' | 'aborted'

  constructor(note: (kind: string) => void, how: 'resumed' | 'aborted') {
    super(note)
    this.#how = how
  }
  override onRequestStart(controller?: DispatchController): void {
    super.onRequestStart()
    if (this.#how === 'aborted') other('aborts', () => controller!.abort(new Error('given up')))
  }
  override onResponseStart(controller: DispatchController): void {
    super.onResponseStart(controller)
    this.#pause(controller)
  }
  override onResponseData(controller?: DispatchController): void {
    super.onResponseData()
    this.#pause(controller!)
  }
  #pause(controller: DispatchController): void {
    controller.pause()
    other('resumes', () => controller.resume())
  }
}

overEachWire('the context of callbacks, if others take part', (wire) => {
  async function open(t: Parameters<typeof startOrigin>[0]): Promise<Stage> {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url !== '/coded') {
        void answer(request, response)
        return
      }
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(CODED)
    })
    return { client: origin.client(), url: origin.url, wire }
  }

  for (const [name, make] of Object.entries(INTERCEPTORS)) {
    for (const how of ['resumed', 'aborted'] as const) {
      test(`${how} behind ${name}`, async (t) => {
        const stage = await open(t)
        const client = stage.client.compose(make())
        await check({ ...stage, client }, async (_stage, note) => {
          const handler = new DisturbedHandler(note, how)
          client.dispatch({ path: '/coded', method: 'GET', origin: stage.url }, handler)
          await handler.done
        })
      })
    }
  }

  test('aborted while retry waits', async (t) => {
    await check(await open(t), async ({ client, url }, note) => {
      const handler = new NotingHandler(note)
      const started = new Promise<DispatchController>((resolve) => {
        handler.onRequestStart = resolve as () => void
      })
      const retry = (): void => {
        other('aborts', async () => (await started).abort(new Error('given up')))
      }
      const waiting = client.compose(interceptors.retry({ retry }))
      waiting.dispatch({ path: '/busy', method: 'GET', origin: url }, handler)
      await handler.done
    })
  })
})
