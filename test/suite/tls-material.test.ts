/**
 * Certificates that are functions, and a file for the secrets, when they fail: a request fails once with the reason,
 * the process goes on, and so does the client when they work again.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { buildConnector } from '../../src/index.ts'
import { authority, clientIdentity } from '../support/certificates.ts'
import { turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

const THROWN = new Error('no certificate today')

const PROMISE = /must not return a promise/

/** Each returns what it should not, or throws. The types forbid most of it. */
const WRONG: readonly (readonly [title: string, source: () => unknown, message: RegExp])[] = [
  [
    'throws',
    () => {
      throw THROWN
    },
    /no certificate today/,
  ],
  [
    'throws null',
    () => {
      throw null
    },
    /failed/,
  ],
  ['returns a promise that rejects', () => Promise.reject(THROWN), PROMISE],
  ['returns a promise that never settles', () => new Promise(() => {}), PROMISE],
  ['returns what is no certificate', () => 'not PEM', /PEM|no start line|DECODER|unable to verify/i],
  ['returns what is no text', () => 7, /must be|Buffer|string/],
]

function watchRejections(t: TestContext): unknown[] {
  const unhandled: unknown[] = []
  const listener = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', listener)
  t.after(() => process.off('unhandledRejection', listener))
  return unhandled
}

overEachWire(
  'TLS material',
  (wire) => {
    for (const option of ['cert', 'key', 'ca'] as const) {
      for (const [title, source, message] of WRONG) {
        test(`${option}, a function that ${title}`, async (t) => {
          const unhandled = watchRejections(t)
          const origin = await startOrigin(t, wire, (_, response) => void response.end('ok'))
          let works = false
          const good = { ca: authority, ...clientIdentity }
          const connect = { ...good, [option]: () => (works ? good[option] : source()) }
          const client = origin.client({ connect: connect as buildConnector.BuildOptions })
          const handlers = ['/1', '/2'].map((path) => {
            const handler = new RecordingHandler()
            client.dispatch({ path, method: 'POST', body: 'x', expectContinue: true }, handler)
            return handler
          })
          await Promise.all(handlers.map(({ settled }) => settled))
          await turns(3)
          for (const { errors, calls } of handlers) {
            assert.equal(errors.length, 1)
            assert.match(errors[0]!.message, message)
            assert.equal(calls.at(-1), 'onResponseError')
          }
          works = true
          const { body } = await client.request({ path: '/', method: 'GET' })
          assert.equal(await body.text(), 'ok')
          assert.deepEqual(unhandled, [])
        })
      }
    }

    test('keylog names a file that cannot be written', async (t) => {
      const unhandled = watchRejections(t)
      const origin = await startOrigin(t, wire, (_, response) => void response.end('ok'))
      const folder = mkdtempSync(join(tmpdir(), 'keylog-'))
      t.after(() => rmSync(folder, { recursive: true }))
      for (const [keylog, code] of [
        [folder, 'EISDIR'],
        [join(folder, 'none', 'keys'), 'ENOENT'],
      ] as const) {
        const handler = new RecordingHandler()
        origin.client({ connect: { keylog } }).dispatch({ path: '/', method: 'GET' }, handler)
        await handler.settled
        await turns(3)
        assert.equal((handler.error as { code?: string }).code, code)
        assert.deepEqual([handler.calls, handler.errors.length], [['onResponseError'], 1])
      }
      assert.deepEqual(unhandled, [])
    })
  },
  { h1: 'no TLS', h2c: 'no TLS' },
)
