import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { fetch, interceptors } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

overTwoWires('interceptors.throttle', (wire) => {
  test('no more requests reach the server at a time', async (t) => {
    let held: ServerResponse[] = []
    const { url } = await startOrigin(t, wire, (_request, response) => void held.push(response))
    const agent = composedAgent(t, wire, interceptors.throttle({ concurrency: 3 }))
    const texts = Promise.all(
      Array.from({ length: 9 }, async () => {
        const { body } = await agent.request({ origin: url, path: '/', method: 'GET' })
        return body.text()
      }),
    )
    for (let round = 0; round < 3; round++) {
      await eventually(() => held.length >= 3)
      await turns(5)
      assert.equal(held.length, 3)
      const responses = held
      held = []
      for (const response of responses) response.end('x')
    }
    assert.equal((await texts).join(''), 'x'.repeat(9))
  })

  test('the signal of a request that waits counts, and its body is not read', async (t) => {
    const responses: ServerResponse[] = []
    const { url } = await startOrigin(t, wire, (_request, response) => void responses.push(response))
    const agent = composedAgent(t, wire, interceptors.throttle({ concurrency: 1 }))
    const send = (path: string, signal?: AbortSignal, body: Readable | null = null): Promise<string> =>
      agent
        .request({ origin: url, path, method: body === null ? 'GET' : 'POST', signal: signal ?? null, body })
        .then((response) => response.body.text())
    const first = send('/1')
    await eventually(() => responses.length === 1)
    const controller = new AbortController()
    const body = new Readable({ read: () => assert.fail('it was read') })
    const second = failure(send('/2', controller.signal, body))
    const third = send('/3')
    const fetched = failure(fetch(`${url}/4`, { dispatcher: agent, signal: controller.signal }))
    const early = failure(send('/5', AbortSignal.abort(new Error('before'))))
    controller.abort(new Error('enough'))
    assert.equal((await second)['message'], 'enough')
    assert.equal((await fetched)['message'], 'enough')
    assert.equal((await early)['message'], 'before')
    assert.equal(body.destroyed, true)
    responses[0]!.end('first')
    await eventually(() => responses.length === 2)
    responses[1]!.end('third')
    assert.deepEqual(await Promise.all([first, third]), ['first', 'third'])
    assert.equal(responses[1]!.req.url, '/3')
  })

  test('a response whose body is aborted leaves its place', async (t) => {
    const { url } = await startOrigin(t, wire, (request, response) => {
      response.write('begun')
      if (request.url === '/2') response.end()
    })
    const agent = composedAgent(t, wire, interceptors.throttle({ concurrency: 1 }))
    const { body } = await agent.request({ origin: url, path: '/1', method: 'GET' })
    const second = agent.request({ origin: url, path: '/2', method: 'GET' })
    body.on('error', () => {})
    body.destroy()
    assert.equal(await (await second).body.text(), 'begun')
  })

  test('with retry after it, refused requests are repeated at their turn, when the server wants them', async (t) => {
    const times: number[] = []
    const { url } = await startOrigin(t, wire, (_request, response) => {
      times.push(performance.now())
      if (times.length === 1) {
        response.statusCode = 429
        response.setHeader('retry-after', '0.08')
      }
      response.end('x')
    })
    const throttle = interceptors.throttle({ concurrency: 1, maxQueue: 2 })
    const agent = composedAgent(t, wire, throttle, interceptors.retry({ minTimeout: 20, jitter: 0 }))
    const send = async (): Promise<string> => {
      const { body } = await agent.request({
        origin: url,
        path: '/',
        method: 'POST',
        body: 'x',
        idempotent: true,
      })
      return body.text()
    }
    // The fourth finds the queue full, and comes back.
    assert.deepEqual(await Promise.all([send(), send(), send(), send()]), ['x', 'x', 'x', 'x'])
    assert.equal(times.length, 5)
    assert.ok(times[1]! - times[0]! >= 75, 'nothing was sent while the server wanted nothing')
  })

  test('requests of a client that is destroyed fail', async (t) => {
    const origin = await startOrigin(t, wire, () => {})
    const client = origin.client()
    const throttled = client.compose(interceptors.throttle({ concurrency: 1 }))
    const failures = [1, 2, 3].map(() => failure(throttled.request({ path: '/', method: 'GET' })))
    await client.destroy()
    for (const error of await Promise.all(failures)) assert.equal(error['code'], 'UND_ERR_DESTROYED')
  })
})

overEachWire(
  'interceptors.throttle',
  (wire) => {
    test('an upgrade leaves its place', async (t) => {
      const origin = await startOrigin(t, wire, (_request, response) => void response.end('plain'))
      origin.server.on('upgrade', (_request, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
        socket.pipe(socket)
      })
      const throttled = composedAgent(t, wire, interceptors.throttle({ concurrency: 1 }))
      const { socket } = await throttled.upgrade({ origin: origin.url, path: '/', protocol: 'echo' })
      t.after(() => socket.destroy())
      const { body } = await throttled.request({ origin: origin.url, path: '/', method: 'GET' })
      assert.equal(await body.text(), 'plain')
    })
  },
  {
    'h1+tls': 'TLS makes no difference',
    'h2+tls': 'HTTP/2 has no upgrade',
    h2c: 'HTTP/2 has no upgrade',
  },
)
