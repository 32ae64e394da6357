/** Signals, dispatchers, interceptors and globals that do not behave: a fetch rejects or works, and never throws. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import {
  type DispatchController,
  type DispatchHandler,
  type DispatchOptions,
  type LegacyDispatchHandler,
  type RequestInit,
  Response,
} from '../../src/index.ts'
import { fetch } from '../support/any-fetch.ts'
import { deferred, echo, failure } from '../support/exchange.ts'
import { http1Only, overEachWire, startOrigin } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

const URL_ = 'http://a.test/'

function thrower(name: string): object {
  return {
    get [name]() {
      throw new Error(name)
    },
  }
}

/** Rejects; a fetch that throws fails the test. */
function rejection(input: string, init: object): Promise<Error> {
  const dispatcher = { dispatch: () => assert.fail('sent') }
  let fetched: Promise<unknown>
  try {
    fetched = fetch(input, { dispatcher, ...init } as object)
  } catch (error) {
    return assert.fail(`threw ${error}`)
  }
  return failure(fetched)
}

describe('what a caller passes', () => {
  const members =
    'body bodyTimeout cache credentials dispatcher duplex headers headersTimeout integrity keepalive method mode priority redirect referrer referrerPolicy signal window'
  for (const name of members.split(' ')) {
    test(`a getter of ${name} that throws`, async () => {
      assert.equal((await failure(fetch(URL_, thrower(name) as RequestInit))).message, name)
    })
  }

  test('a signal that throws', async () => {
    const listening = { aborted: false, addEventListener: () => assert.fail('listened') }
    let reads = 0
    const rows: [signal: object, message: RegExp][] = [
      [listening, /listened/],
      [
        Object.defineProperty({ ...listening, aborted: true }, 'reason', {
          get() {
            throw new Error('reason')
          },
        }),
        /reason/,
      ],
      [
        Object.defineProperty({ ...listening }, 'aborted', {
          get() {
            if (reads++ > 0) throw new Error('aborted')
            return false
          },
        }),
        /aborted/,
      ],
    ]
    for (const [signal, message] of rows) {
      const error = await rejection(URL_, { signal })
      assert.match((error.cause as Error).message, message)
    }
    const aborted = Object.defineProperty({ ...listening, aborted: true }, 'reason', {
      get() {
        throw new Error('reason')
      },
    })
    assert.equal((await rejection('data:,x', { signal: aborted })).message, 'reason')
  })

  test('proxies that were revoked', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    assert.equal((await failure(fetch(URL_, proxy))).name, 'TypeError')
    assert.equal((await failure(fetch(proxy as never))).name, 'TypeError')
  })

  test('a Blob of another class: a type that is none is not sent', async () => {
    for (const type of ['a\r\nx: y', undefined, 5, '']) {
      const blob = { [Symbol.toStringTag]: 'Blob', size: 1, type, stream: () => new Blob(['x']).stream() }
      const response = new Response(blob as never)
      assert.equal(response.headers.get('content-type'), null)
      assert.equal(await response.text(), 'x')
    }
  })

  test('a form of another class with a name that is no string', async () => {
    const entries = [[5, 6]]
    const form = { [Symbol.toStringTag]: 'FormData', append() {}, [Symbol.iterator]: () => entries.values() }
    assert.match(await new Response(form as never).text(), /name="5"\r\n\r\n6\r\n/)
  })
})

/** Answers with what the test calls on the handler. */
function answering(answer: (handler: DispatchHandler, controller: DispatchController) => void) {
  return {
    dispatch(_: DispatchOptions, handler: DispatchHandler): boolean {
      const controller = { abort() {}, pause() {}, resume() {}, aborted: false, paused: false, reason: null }
      handler.onRequestStart!(controller, null)
      answer(handler, controller)
      return true
    },
  }
}

describe('what a dispatcher or an interceptor delivers', () => {
  test('fields in any spelling, values of any type', async () => {
    const fields = {
      'X-Own': '1',
      'x-own': '2',
      'Set-Cookie': 'a=b',
      'content-length': 2,
      'X-Number': 3,
      'x-null': null,
      'x-none': undefined,
    }
    const dispatcher = answering((handler, controller) => {
      handler.onResponseStart!(controller, 200, fields as never, 'OK')
      handler.onResponseData!(controller, Buffer.from('hi'))
      handler.onResponseEnd!(controller, {})
    })
    const response = await fetch(URL_, { dispatcher })
    const { headers } = response
    const names = ['x-own', 'X-OWN', 'content-length', 'x-number', 'x-null', 'x-none', 'set-cookie']
    assert.deepEqual(
      names.map((name) => headers.get(name)),
      ['2', '2', '2', '3', null, null, 'a=b'],
    )
    assert.deepEqual([headers.has('x-number'), headers.has('x-null')], [true, false])
    assert.deepEqual(headers.getSetCookie(), ['a=b'])
    assert.deepEqual(
      [...headers],
      [
        ['content-length', '2'],
        ['set-cookie', 'a=b'],
        ['x-number', '3'],
        ['x-own', '1, 2'],
      ],
    )
    assert.equal(await response.text(), 'hi')
  })

  test('content as text or as bytes of any class; anything else fails', async () => {
    for (const chunk of ['hi', new Uint8Array([104, 105]), Buffer.from('hi')]) {
      const dispatcher = answering((handler, controller) => {
        handler.onResponseStart!(controller, 200, {}, '')
        handler.onResponseData!(controller, chunk as Buffer)
        handler.onResponseEnd!(controller, {})
      })
      assert.equal(await (await fetch(URL_, { dispatcher })).text(), 'hi')
    }
    const dispatcher = answering((handler, controller) => {
      handler.onResponseStart!(controller, 200, {}, '')
      handler.onResponseData!(controller, 12 as never)
      handler.onResponseEnd!(controller, {})
    })
    const error = await failure((await fetch(URL_, { dispatcher })).text())
    assert.deepEqual(
      [error.message, (error.cause as Error).message],
      ['terminated', 'Received non-Uint8Array chunk'],
    )
  })

  test('the end without a head', async () => {
    const dispatcher = answering((handler, controller) => handler.onResponseEnd!(controller, {}))
    const error = await failure(fetch(URL_, { dispatcher }))
    assert.deepEqual(
      [error.message, (error.cause as Error).message],
      ['fetch failed', 'the response has no head'],
    )
  })

  test('an upgrade, by the older handlers', async () => {
    let destroyed = false
    const dispatcher = {
      dispatch(_: DispatchOptions, handler: LegacyDispatchHandler): boolean {
        handler.onConnect!(() => {}, null)
        handler.onUpgrade!(101, [], { destroy: () => (destroyed = true) } as never)
        return true
      },
    }
    const error = await failure(fetch(URL_, { dispatcher: dispatcher as never }))
    assert.deepEqual([(error.cause as Error).message, destroyed], ['unexpected upgrade', true])
  })

  test('everything twice', async () => {
    const dispatcher = answering((handler, controller) => {
      handler.onResponseStart!(controller, 201, {}, '')
      handler.onResponseStart!(controller, 500, {}, '')
      handler.onResponseEnd!(controller, {})
      handler.onResponseEnd!(controller, {})
      handler.onResponseError!(controller, new Error('late'))
    })
    const response = await fetch(URL_, { dispatcher })
    assert.deepEqual([response.status, await response.text()], [201, ''])
    const failing = answering((handler) => {
      handler.onResponseError!(null, new Error('first'))
      handler.onResponseError!(null, new Error('second'))
    })
    const error = await failure(fetch(URL_, { dispatcher: failing }))
    assert.equal((error.cause as Error).message, 'first')
  })

  test('an exception of any kind', async () => {
    for (const thrown of [new Error('mine'), 'text', undefined]) {
      const dispatcher = {
        dispatch() {
          throw thrown
        },
      }
      const error = await failure(fetch(URL_, { dispatcher: dispatcher as never }))
      assert.deepEqual([error.message, error.cause], ['fetch failed', thrown])
    }
  })
})

overEachWire('globals that were replaced', (wire) => {
  test('a clock that cannot measure does not keep the response', async (t) => {
    const origin = await startOrigin(t, wire, (_, response) => response.end('content'))
    const dispatcher = agentFor(t, wire)
    const original = Object.getOwnPropertyDescriptor(globalThis, 'performance')!
    const read = async (): Promise<string> => (await fetch(origin.url, { dispatcher })).text()
    assert.equal(await read(), 'content')
    t.after(() => Object.defineProperty(globalThis, 'performance', original))
    const broken = {
      now: () => 0,
      markResourceTiming() {
        throw new Error('not here')
      },
    }
    for (const value of [broken, {}, undefined]) {
      Object.defineProperty(globalThis, 'performance', { value, configurable: true, writable: true })
      assert.equal(await read(), 'content')
    }
  })
})

overEachWire(
  'a body with a status that has none',
  (wire) => {
    test('is drained, or given up if it does not end', async (t) => {
      const gone = deferred()
      const origin = await startOrigin(t, wire, (request, response) => {
        if (request.url === '/next') return echo(request, response)
        response.writeHead(205, { 'transfer-encoding': 'chunked' })
        if (request.url === '/short') return void response.end('short')
        response.on('close', () => gone.resolve())
        const more = async (): Promise<void> => {
          while (!response.destroyed) if (!response.write(Buffer.alloc(16_384))) await once(response, 'drain')
        }
        more().catch(() => {})
      })
      const client = origin.client()
      const short = await fetch(`${origin.url}/short`, { dispatcher: client })
      assert.deepEqual([short.status, short.body], [205, null])
      assert.equal((await fetch(`${origin.url}/next`, { dispatcher: client })).status, 200)
      assert.equal(origin.sockets.length, 1)
      const endless = await fetch(origin.url, { dispatcher: client })
      assert.deepEqual([endless.status, await endless.text()], [205, ''])
      await gone.promise
      assert.equal((await fetch(`${origin.url}/next`, { dispatcher: client })).status, 200)
    })
  },
  http1Only('the server of the runtime ends a stream with this status'),
)
