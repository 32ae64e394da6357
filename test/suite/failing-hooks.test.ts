/**
 * Methods of a handler that throw, or are async functions that reject, at every point of a request: this request settles
 * once, the one beside it and the next one are not concerned, and the process hears nothing of it.
 */
import assert from 'node:assert/strict'
import { Duplex, Readable, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { Client, Dispatcher, DispatchHandler, Interceptor } from '../../src/index.ts'
import { interceptors } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { overEachWire, startOrigin, type TestOrigin, type Wire } from '../support/wire.ts'

const THROWN = new Error('thrown by the caller')

const FAILURES: Record<string, () => unknown> = {
  throws: () => {
    throw THROWN
  },
  rejects: () => Promise.reject(THROWN),
}

/** The calls after which nothing follows, by generation. */
const FINAL = {
  newer: ['onResponseEnd', 'onResponseError', 'onRequestUpgrade'],
  older: ['onComplete', 'onError', 'onUpgrade'],
} as const

const HOOKS = {
  newer: [
    'onRequestQueued',
    'onRequestStart',
    'onBodySent',
    'onRequestSent',
    'onResponseStarted',
    'onResponseStart',
    'onResponseData',
    ...FINAL.newer,
  ],
  older: [
    'onConnect',
    'onBodySent',
    'onRequestSent',
    'onResponseStarted',
    'onHeaders',
    'onData',
    ...FINAL.older,
  ],
} as const

type Generation = keyof typeof HOOKS

const STACKS: Record<string, readonly Interceptor[]> = {
  'a client': [],
  'an interceptor of the caller': [
    (dispatch) => (opts, handler) =>
      dispatch(opts, {
        ...handler,
        // Many do not hand on what the method returns.
        onResponseData(controller, chunk) {
          handler.onResponseData?.(controller, chunk)
        },
      }),
  ],
  'interceptors of the library': [
    interceptors.redirect({ maxRedirections: 1 }),
    interceptors.retry({ maxRetries: 0 }),
  ],
}

/** `/held` does not end by itself, so that whatever fails comes before the end. */
function start(t: TestContext, wire: Wire): Promise<TestOrigin> {
  return startOrigin(t, wire, (request, response) => {
    response.on('error', () => {})
    request.on('error', () => {})
    request.resume()
    request.on('end', () => {
      response.write('part')
      if (request.url === '/reset') setImmediate(() => response.destroy())
      else if (request.url !== '/held') response.end()
    })
  })
}

/** Accepts tunnels, over both protocols. */
function acceptTunnels({ server }: TestOrigin): void {
  server.on('connect', (_request, socket: unknown) => {
    if (!(socket instanceof Duplex)) return
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
  })
  server.prependListener(
    'stream',
    (stream: Duplex & { respond(): void }, headers: Record<string, string>) => {
      if (headers[':method'] !== 'CONNECT') return
      stream.on('error', () => {})
      stream.respond()
    },
  )
}

function watchProcess(t: TestContext): unknown[] {
  const seen: unknown[] = []
  const note = (error: unknown): void => void seen.push(error)
  process.on('unhandledRejection', note)
  t.after(() => process.off('unhandledRejection', note))
  return seen
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Outcome {
  readonly finals: readonly string[]
  readonly errors: readonly unknown[]
}

/** Sends a request whose handler fails in one method. */
async function run(
  dispatcher: Dispatcher,
  generation: Generation,
  failing: string,
  fail: () => unknown,
): Promise<Outcome> {
  const finals: string[] = []
  const errors: unknown[] = []
  const isTunnel = failing === 'onRequestUpgrade' || failing === 'onUpgrade'
  const isReset = failing === 'onResponseError' || failing === 'onError'
  await new Promise<void>((resolve) => {
    const handler: Record<string, unknown> = {}
    for (const name of HOOKS[generation]) {
      handler[name] = (...args: unknown[]) => {
        if ((FINAL[generation] as readonly string[]).includes(name)) {
          finals.push(name)
          errors.push(...args.filter((arg) => arg instanceof Error))
          const socket = args.find((arg) => arg instanceof Duplex)
          if (socket === undefined) setImmediate(resolve)
          else socket.on('error', () => {}).on('close', () => resolve())
        }
        return name === failing ? fail() : true
      }
    }
    const path = isReset ? '/reset' : failing === FINAL[generation][0] ? '/' : '/held'
    dispatcher.dispatch(
      isTunnel
        ? { path: 'example.test:80', method: 'CONNECT' }
        : { path, method: 'PUT', body: Readable.from(['x']) },
      handler as DispatchHandler,
    )
  })
  await turn()
  return { finals, errors }
}

async function text(client: Client): Promise<string> {
  const { body } = await client.request({ path: '/', method: 'GET' })
  return body.text()
}

overEachWire('a handler that fails', (wire) => {
  for (const [stack, layers] of Object.entries(STACKS)) {
    for (const generation of ['newer', 'older'] as const) {
      for (const name of HOOKS[generation]) {
        test(`${name} through ${stack}: one that throws, and one that rejects`, async (t) => {
          const unhandled = watchProcess(t)
          const origin = await start(t, wire)
          acceptTunnels(origin)
          const client = origin.client({ pipelining: 1 })
          client.on('error', (error) => assert.equal(error, THROWN))
          const dispatcher = client.compose(...layers)
          const [end, error, upgrade] = FINAL[generation]
          for (const fail of Object.values(FAILURES)) {
            const beside = text(client)
            const { finals, errors } = await run(dispatcher, generation, name, fail)
            if (name === upgrade) assert.deepEqual([finals, errors], [[upgrade], []])
            else if (name === error) assert.deepEqual([finals, errors.includes(THROWN)], [[error], false])
            else assert.deepEqual([finals, errors], [name === end ? [end, error] : [error], [THROWN]])
            assert.equal(await beside, 'part')
            assert.equal(await text(client), 'part')
          }
          await turn()
          assert.deepEqual(unhandled, [])
        })
      }
    }
  }

  const raise = (): never => {
    throw THROWN
  }

  const targets: Record<string, () => Writable> = {
    'on()': () => Object.assign(new Writable(), { on: raise }),
    'write()': () => Object.assign(new Writable(), { write: raise }),
    '_write()': () => new Writable({ write: raise }),
    'end()': () =>
      Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), { end: raise }),
    '_final()': () => new Writable({ write: (_chunk, _encoding, done) => done(), final: raise }),
    'a "drain" listener': () => {
      const target = new Writable({
        highWaterMark: 1,
        write: (_chunk, _encoding, done) => setImmediate(done),
      })
      return target.on('drain', () => target.destroy(THROWN))
    },
  }
  for (const [name, make] of Object.entries(targets)) {
    test(`${name} of the Writable of stream() throws`, async (t) => {
      const unhandled = watchProcess(t)
      const client = (await start(t, wire)).client()
      const beside = text(client)
      assert.equal(await failure(client.stream({ path: '/', method: 'GET' }, make)), THROWN)
      assert.equal(await beside, 'part')
      assert.equal(await text(client), 'part')
      assert.deepEqual(unhandled, [])
    })
  }

  test('destroy() of the Writable of stream() throws', async (t) => {
    const client = (await start(t, wire)).client()
    const aborter = new AbortController()
    const target = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), {
      destroy: raise,
    })
    const pending = failure(
      client.stream({ path: '/held', method: 'GET', signal: aborter.signal }, () => {
        setImmediate(() => aborter.abort(new Error('enough')))
        return target
      }),
    )
    assert.equal((await pending).message, 'enough')
    assert.equal(await text(client), 'part')
  })

  test('on() of the stream that the handler of pipeline() returns throws', async (t) => {
    const unhandled = watchProcess(t)
    const client = (await start(t, wire)).client()
    const duplex = client.pipeline({ path: '/held', method: 'PUT' }, ({ body }) => {
      body.on('error', () => {}).resume()
      return Object.assign(new Readable({ read() {} }), { on: raise })
    })
    duplex.on('error', () => {}).resume()
    duplex.end('x')
    await new Promise((resolve) => duplex.on('close', resolve))
    assert.equal(duplex.errored, THROWN)
    assert.equal(await text(client), 'part')
    assert.deepEqual(unhandled, [])
  })

  test('destroy() of the stream that the handler of pipeline() returns throws', async (t) => {
    const client = (await start(t, wire)).client()
    const duplex = client.pipeline({ path: '/held', method: 'PUT' }, ({ body }) => {
      body.on('error', () => {}).resume()
      setImmediate(() => duplex.destroy(THROWN))
      return Object.assign(new Readable({ read() {} }), { destroy: raise })
    })
    duplex.on('error', () => {}).resume()
    duplex.end('x')
    await new Promise((resolve) => duplex.on('close', resolve))
    assert.equal(duplex.errored, THROWN)
    assert.equal(await text(client), 'part')
  })
})
