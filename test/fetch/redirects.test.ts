/** Redirects and the answers that fetch treats in a way of its own, on our dispatchers (contract: fetch.md 1). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Agent, fetch, type RequestInitWithDispatcher } from '../../src/index.ts'
import { wireOptions } from '../dispatcher/pool-support.ts'
import { contentOf, type Echo, echo, failure } from '../suite/exchange.ts'
import { overEachWire, startOrigin, type Wire } from '../support/wire.ts'

function agentFor(t: TestContext, wire: Wire): Agent {
  const agent = new Agent(wireOptions(wire))
  t.after(() => agent.destroy())
  return agent
}

/** Status, method asked with, method that arrives, whether the body does. */
const ROWS: [status: number, method: string, arrives: string, withBody: boolean][] = [
  [301, 'POST', 'GET', false],
  [302, 'POST', 'GET', false],
  [301, 'PUT', 'PUT', true],
  [303, 'POST', 'GET', false],
  [303, 'PUT', 'GET', false],
  [307, 'POST', 'POST', true],
  [308, 'PUT', 'PUT', true],
]

function stream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('once'))
      controller.close()
    },
  })
}

overEachWire('a redirect', (wire) => {
  /** `/301` and so on lead to `/there`, which tells what it got. */
  const start = (t: TestContext) =>
    startOrigin(t, wire, async (request, response) => {
      const status = Number(request.url!.slice(1, 4))
      if (!status) return echo(request, response)
      await contentOf(request)
      response.writeHead(status, { location: '/there' }).end()
    })

  test('which method and body follow it', async (t) => {
    const origin = await start(t)
    const dispatcher = agentFor(t, wire)
    for (const [status, method, arrives, withBody] of ROWS) {
      const init = { dispatcher, method, body: 'text', headers: { 'content-language': 'de', 'x-own': '1' } }
      const response = await fetch(`${origin.url}/${status}`, init)
      assert.deepEqual([response.redirected, response.url], [true, `${origin.url}/there`])
      const got = (await response.json()) as Echo
      assert.deepEqual([got.method, got.body], [arrives, withBody ? 'text' : ''], `${status} ${method}`)
      assert.equal(got.headers['content-language'], withBody ? 'de' : undefined)
      assert.equal(got.headers['content-type'] !== undefined, withBody)
      assert.equal(got.headers['x-own'], '1')
    }
  })

  test('a stream cannot be sent again, but 303 needs none', async (t) => {
    const origin = await start(t)
    const dispatcher = agentFor(t, wire)
    const post = (status: number): Promise<Response> =>
      fetch(`${origin.url}/${status}`, {
        dispatcher,
        method: 'POST',
        body: stream(),
        duplex: 'half',
      } as RequestInitWithDispatcher)
    const error = await failure(post(307))
    assert.deepEqual([error.name, error.message], ['TypeError', 'fetch failed'])
    assert.equal(((await (await post(303)).json()) as Echo).method, 'GET')
  })

  test('to another origin: without what was meant for the first', async (t) => {
    const other = await startOrigin(t, wire, echo)
    const origin = await startOrigin(t, wire, (_, response) => {
      response.writeHead(302, { location: other.url }).end()
    })
    const headers = { authorization: 'secret', cookie: 'a=b', 'x-own': '1' }
    const response = await fetch(origin.url, { dispatcher: agentFor(t, wire), headers })
    const got = ((await response.json()) as Echo).headers
    assert.deepEqual([got['authorization'], got['cookie'], got['x-own']], [undefined, undefined, '1'])
    assert.equal(got[wire.multiplexes ? ':authority' : 'host'], `localhost:${other.port}`)
  })

  test('twenty of them, and no more', async (t) => {
    let hops = 0
    const origin = await startOrigin(t, wire, (request, response) => {
      const left = Number(request.url!.slice(1))
      hops++
      if (left === 0) response.end('there')
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    const dispatcher = agentFor(t, wire)
    assert.equal(await (await fetch(`${origin.url}/20`, { dispatcher })).text(), 'there')
    hops = 0
    const error = await failure(fetch(`${origin.url}/21`, { dispatcher }))
    assert.match((error.cause as Error).message, /redirect/)
    assert.equal(hops, 21)
  })

  test('error refuses it, manual hands it out', async (t) => {
    const origin = await start(t)
    const dispatcher = agentFor(t, wire)
    const error = await failure(fetch(`${origin.url}/302`, { dispatcher, redirect: 'error' }))
    assert.equal(error.name, 'TypeError')
    const response = await fetch(`${origin.url}/302`, { dispatcher, redirect: 'manual' })
    assert.deepEqual([response.status, response.headers.get('location')], [302, '/there'])
    assert.equal(response.redirected, false)
  })
})

overEachWire('an answer of its own kind', (wire) => {
  test('407 is an error', async (t) => {
    const origin = await startOrigin(t, wire, (_, response) => response.writeHead(407).end())
    const error = await failure(fetch(origin.url, { dispatcher: agentFor(t, wire) }))
    assert.deepEqual([error.name, error.message], ['TypeError', 'fetch failed'])
  })
})

// Only here: the runtime gives up the answer it has, which fails the request unless all of that has come.
test('421 is asked again once', async (t) => {
  const wire: Wire = { name: 'h1', secure: false, multiplexes: false }
  let count = 0
  const origin = await startOrigin(t, wire, async (request, response) => {
    const body = await contentOf(request)
    if (++count === 1) response.writeHead(421, { 'content-length': 0 }).end()
    else response.end(body)
  })
  const init = { dispatcher: agentFor(t, wire), method: 'POST', body: 'again' }
  const response = await fetch(origin.url, init)
  assert.deepEqual([response.status, await response.text(), count], [200, 'again', 2])
})
