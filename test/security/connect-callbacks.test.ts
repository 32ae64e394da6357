/**
 * What a caller's function on the way to a connection throws, rejects with or returns by mistake fails the request at once. It
 * never ends the process, and never counts as consent.
 */
import assert from 'node:assert/strict'
import type { AddressInfo, LookupFunction } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import {
  Agent,
  type BuildConnectorOptions,
  buildConnector,
  Client,
  type ClientOptions,
  type ConnectFunction,
  errors,
  Pool,
} from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { overEachWire, startOrigin, type Wire, wireOptions } from '../support/wire.ts'

type Check = NonNullable<BuildConnectorOptions['checkServerIdentity']>

/** Nothing may wait for a time limit: there is none. */
const NO_LIMITS: ClientOptions = { connectTimeout: 0, headersTimeout: 0, bodyTimeout: 0 }

async function failureOf(
  t: TestContext,
  wire: Wire,
  connect: BuildConnectorOptions | ConnectFunction,
): Promise<Error & { readonly code?: unknown }> {
  const origin = await startOrigin(t, wire, (_request, response) => response.end('ok'))
  const given = typeof connect === 'function' ? connect : { ca: authority, ...connect }
  const client = new Client(origin.url, {
    ...wireOptions(wire),
    ...NO_LIMITS,
    connect: given,
  } as ClientOptions)
  t.after(() => client.destroy())
  const failed: unknown = await client.request({ path: '/', method: 'GET' }).then(
    ({ body }) => body.text(),
    (error: unknown) => error,
  )
  assert.ok(failed instanceof Error, String(failed))
  return failed
}

async function succeeds(t: TestContext, wire: Wire, connect: BuildConnectorOptions): Promise<void> {
  const origin = await startOrigin(t, wire, (_request, response) => response.end('ok'))
  const client = new Client(origin.url, { connect: { ca: authority, ...connect } })
  t.after(() => client.destroy())
  const { body } = await client.request({ path: '/', method: 'GET' })
  assert.equal(await body.text(), 'ok')
}

const THROWN = new Error('thrown by the caller')

const raise = (): never => {
  throw THROWN
}

const raiseText = (): never => {
  throw 'text'
}

overEachWire(
  'checkServerIdentity',
  (wire) => {
    for (const rejectUnauthorized of [true, false]) {
      const asking = (check: unknown): BuildConnectorOptions => ({
        checkServerIdentity: check as Check,
        rejectUnauthorized,
      })
      const suffix = rejectUnauthorized ? '' : ', with rejectUnauthorized: false'

      test(`what it throws is the error${suffix}`, async (t) => {
        const failed = await failureOf(t, wire, asking(raise))
        assert.equal(failed.message, THROWN.message)
      })

      for (const thrown of ['text', undefined, null, 0]) {
        test(`${String(thrown)} that it throws is the cause of the error${suffix}`, async (t) => {
          const failed = await failureOf(
            t,
            wire,
            asking(() => {
              throw thrown
            }),
          )
          assert.equal(failed.message, 'checkServerIdentity failed')
          assert.equal(failed.cause, thrown)
        })
      }

      for (const [title, answer] of [
        ['a promise', () => Promise.resolve()],
        ['a promise that rejects', () => Promise.reject(THROWN)],
        ['true', () => true],
        ['false', () => false],
        ['a string', () => 'refused'],
        ['an object', () => ({})],
        ['zero', () => 0],
      ] as const) {
        test(`${title} is no answer${suffix}`, async (t) => {
          const failed = await failureOf(t, wire, asking(answer))
          assert.ok(failed instanceof errors.InvalidArgumentError)
          assert.equal(failed.message, 'checkServerIdentity must return an Error or undefined')
        })
      }
    }

    test('an Error that it returns is the error', async (t) => {
      const failed = await failureOf(t, wire, { checkServerIdentity: () => THROWN })
      assert.equal(failed.message, THROWN.message)
    })

    test('an Error that it returns is let through with rejectUnauthorized: false', (t) =>
      succeeds(t, wire, { checkServerIdentity: () => THROWN, rejectUnauthorized: false }))

    for (const answer of [undefined, null]) {
      test(`${answer} is consent`, (t) =>
        succeeds(t, wire, { checkServerIdentity: (() => answer) as unknown as Check }))
    }

    for (const absent of [undefined, null]) {
      test(`${absent} instead of a function means the runtime's check`, async (t) => {
        await succeeds(t, wire, { checkServerIdentity: absent as unknown as Check })
        const failed = await failureOf(t, wire, {
          checkServerIdentity: absent as unknown as Check,
          servername: 'other.test',
        })
        assert.equal(failed.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
      })
    }

    test("what the runtime's own check throws is the error", async (t) => {
      t.mock.method(tls, 'checkServerIdentity', raise)
      const failed = await failureOf(t, wire, {})
      assert.equal(failed.message, THROWN.message)
    })

    test('it gets the name and the certificate', async (t) => {
      const seen: unknown[] = []
      await succeeds(t, wire, {
        servername: 'a.example.test',
        checkServerIdentity: (hostname, certificate) => {
          seen.push(hostname, certificate.subject.CN)
          return undefined
        },
      })
      assert.deepEqual(seen, ['a.example.test', 'localhost'])
    })
  },
  { h1: 'no TLS', h2c: 'no TLS' },
)

describe('what is no function', () => {
  for (const option of ['checkServerIdentity', 'lookup', 'pskCallback'] as const) {
    test(`${option} is refused when the dispatcher is made`, () => {
      const connect = { [option]: 'x' } as unknown as BuildConnectorOptions
      const refusal = { name: 'InvalidArgumentError', message: `${option} must be a function` }
      assert.throws(() => new Client('https://localhost', { connect }), refusal)
      assert.throws(() => new Pool('https://localhost', { connect }), refusal)
      assert.throws(() => new Agent({ connect }), refusal)
      assert.throws(() => buildConnector(connect), refusal)
    })
  }
})

overEachWire('lookup', (wire) => {
  for (const autoSelectFamily of [undefined, true, false]) {
    const asking = (lookup: unknown): BuildConnectorOptions => ({
      lookup: lookup as LookupFunction,
      autoSelectFamily,
    })
    const suffix = autoSelectFamily === undefined ? '' : `, autoSelectFamily: ${autoSelectFamily}`

    test(`what it throws is the error${suffix}`, async (t) => {
      assert.equal((await failureOf(t, wire, asking(raise))).message, THROWN.message)
    })

    test(`what it rejects with is the error${suffix}`, async (t) => {
      const failed = await failureOf(
        t,
        wire,
        asking(async () => raise()),
      )
      assert.equal(failed.message, THROWN.message)
    })

    for (const [title, answer] of [
      ['nothing', []],
      ['no address', [null, undefined]],
      ['an empty list', [null, []]],
      ['a number', [null, 1, 4]],
      ['a list of nothing', [null, [null, undefined]]],
      ['text', [null, 'nowhere', 4]],
      ['an error that is text', ['refused']],
      ['an error that is true', [true]],
    ] as const) {
      for (const when of ['at once', 'later'] as const) {
        test(`${title}, answered ${when}, is an error${suffix}`, async (t) => {
          await failureOf(
            t,
            wire,
            asking((_name: string, _options: object, callback: (...args: unknown[]) => void) => {
              if (when === 'at once') callback(...answer)
              else setImmediate(callback, ...answer)
            }),
          )
        })
      }
    }

    test(`a second answer changes nothing${suffix}`, async (t) => {
      const lookup = (
        _name: string,
        { all }: { all?: boolean },
        callback: (...args: unknown[]) => void,
      ): void => {
        const answer = all ? [[{ address: '127.0.0.1', family: 4 }]] : ['127.0.0.1', 4]
        setImmediate(() => {
          callback(null, ...answer)
          callback(THROWN)
          callback(null, ...answer)
        })
      }
      const origin = await startOrigin(t, wire, (_request, response) => response.end('ok'))
      const client = new Client(origin.url, {
        ...wireOptions(wire),
        connect: { ca: authority, ...asking(lookup) },
      })
      t.after(() => client.destroy())
      const { body } = await client.request({ path: '/', method: 'GET' })
      assert.equal(await body.text(), 'ok')
      assert.equal(origin.sockets.length, 1)
    })
  }
})

overEachWire('a connect function', (wire) => {
  for (const [title, connect] of [
    ['that throws', raise],
    ['that is async and rejects', async () => raise()],
  ] as const) {
    test(`${title} fails the request with that`, async (t) => {
      const failed = await failureOf(t, wire, connect as unknown as ConnectFunction)
      assert.equal(failed.message, THROWN.message)
    })
  }

  for (const thrown of ['text', undefined, null, 0]) {
    test(`that throws ${String(thrown)} fails the request`, async (t) => {
      await failureOf(t, wire, () => {
        throw thrown
      })
    })
    test(`that rejects with ${String(thrown)} fails the request`, async (t) => {
      await failureOf(t, wire, (async () => {
        throw thrown
      }) as unknown as ConnectFunction)
    })
  }

  for (const [title, answer] of [
    ['nothing', []],
    ['no socket', [null, null]],
    ['text as an error', ['refused', null]],
    ['true', [true]],
    ['an object', [null, {}]],
  ] as const) {
    test(`that answers with ${title} fails the request`, async (t) => {
      await failureOf(t, wire, ((_options: object, callback: (...args: unknown[]) => void) =>
        callback(...answer)) as unknown as ConnectFunction)
    })
  }
})

describe('pskCallback', () => {
  for (const [title, callback, message] of [
    ['what it throws', raise, THROWN.message],
    ['text that it throws', () => raiseText(), 'pskCallback failed'],
    ['a promise that rejects', async () => raise(), undefined],
  ] as const) {
    test(`${title} fails the request`, async (t) => {
      const server = tls.createServer({ ciphers: 'PSK', maxVersion: 'TLSv1.2', pskCallback: () => null })
      server.on('tlsClientError', () => {})
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      t.after(() => server.close())
      const { port } = server.address() as AddressInfo
      const connect = { ciphers: 'PSK', maxVersion: 'TLSv1.2', pskCallback: callback }
      const client = new Client(`https://127.0.0.1:${port}`, {
        ...NO_LIMITS,
        connect,
      } as unknown as ClientOptions)
      t.after(() => client.destroy())
      const failed = await client.request({ path: '/', method: 'GET' }).catch((error: unknown) => error)
      assert.ok(failed instanceof Error)
      if (message !== undefined) assert.equal(failed.message, message)
    })
  }
})
