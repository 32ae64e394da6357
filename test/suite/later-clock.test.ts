/**
 * A fake clock that a caller's test installs while a client is at work: timers from before it are cleared by the function
 * that belongs to them. Clocks such as sinon's warn about each that they do not know.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetch, interceptors } from '../../src/index.ts'
import { FakeClock, FakeTimer } from '../support/fake-clock.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' } as const

/** Replaces the timers; returns those that its `clearTimeout` got and did not make, and how to end it. */
function installStrictClock(): { readonly strange: unknown[]; readonly end: () => void } {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis
  const clock = new FakeClock()
  const disable = clock.enable()
  const strange: unknown[] = []
  const { clearTimeout: clearFake } = globalThis
  const clear = (timer: unknown): void => {
    if (timer instanceof FakeTimer) clearFake(timer as never)
    else if (timer !== undefined && timer !== null) strange.push(timer)
  }
  globalThis.clearTimeout = clear as typeof clearTimeout
  globalThis.clearInterval = clear as typeof clearInterval
  const end = (): void => {
    disable()
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval })
  }
  return { strange, end }
}

overEachWire('a clock that is installed later', (wire) => {
  test('gets no timer that it has not made', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/' }).end('x')
      else response.end('ok')
    })
    const client = origin.client()
    const composed = client.compose(interceptors.retry(), interceptors.redirect({ maxRedirections: 2 }))
    const exchange = async (): Promise<void> => {
      assert.equal(await (await client.request(GET)).body.text(), 'ok')
      assert.equal(await (await composed.request({ ...GET, path: '/moved' })).body.text(), 'ok')
      assert.equal(await (await fetch(`${origin.url}/moved`, { dispatcher: client })).text(), 'ok')
      await (await client.request(GET)).body.dump()
    }
    await exchange()
    const clock = installStrictClock()
    t.after(clock.end)
    await exchange()
    await client.close()
    assert.equal(clock.strange.length, 0)
  })

  test('gets its own back after it has gone', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => void response.end('ok'))
    const client = origin.client()
    const clock = new FakeClock()
    const disable = clock.enable()
    assert.equal(await (await client.request(GET)).body.text(), 'ok')
    disable()
    await client.close()
    assert.deepEqual([...clock.active], [])
  })
})
