/** Under the fake clock of a caller's test, time stands still and requests go on. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fetch } from '../../src/index.ts'
import { type Listener, overEachWire, startOrigin } from '../support/wire.ts'

const LARGE = 'large '.repeat(50_000)

const answer: Listener = (request, response) => {
  if (request.url === '/redirect') response.writeHead(302, { location: '/' }).end('elsewhere')
  else if (request.url === '/gzip')
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(LARGE))
  else if (request.url === '/cut') response.writeHead(200).write('x', () => response.destroy())
  else response.end('ok')
}

/**
 * Jest's fake clock also takes `process.nextTick` from the code under test, and leaves the runtime its own: here, calls are
 * lost that come directly from the library.
 */
function takeNextTick(t: TestContext): void {
  const { nextTick } = process
  t.mock.method(process, 'nextTick', (...args: Parameters<typeof nextTick>) => {
    const [, , caller = ''] = new Error().stack!.split('\n    at ').filter((line) => !/mock/i.test(line))
    if (!caller.includes('/src/')) nextTick(...args)
  })
}

overEachWire('a fake clock', (wire) => {
  for (const [name, install] of [
    ['of node:test', (t: TestContext) => t.mock.timers.enable()],
    ['that takes nextTick', takeNextTick],
  ] as const) {
    test(`${name}: one request after another`, async (t) => {
      const origin = await startOrigin(t, wire, answer)
      const dispatcher = origin.client()
      install(t)
      for (let i = 0; i < 4; i++) {
        const { body } = await dispatcher.request({ method: 'GET', path: '/' })
        assert.equal(await body.text(), 'ok')
        assert.equal(await (await fetch(`${origin.url}/redirect`, { dispatcher })).text(), 'ok')
      }
      assert.equal(await (await fetch(`${origin.url}/gzip`, { dispatcher })).text(), LARGE)
      await dispatcher.close()
    })

    test(`${name}: many at a time`, async (t) => {
      const origin = await startOrigin(t, wire, answer)
      const dispatcher = origin.client({ pipelining: 20 })
      install(t)
      const lane = async (): Promise<void> => {
        for (let i = 0; i < 4; i++) assert.equal(await (await fetch(origin.url, { dispatcher })).text(), 'ok')
      }
      await Promise.all(Array.from({ length: 20 }, lane))
      await dispatcher.close()
    })

    test(`${name}: a response that is cut off`, async (t) => {
      const origin = await startOrigin(t, wire, answer)
      const dispatcher = origin.client()
      install(t)
      const { body } = await dispatcher.request({ method: 'GET', path: '/cut' })
      await assert.rejects(body.text())
      await dispatcher.close()
    })
  }
})
