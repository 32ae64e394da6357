/** Refusals whose bodies do not end: their connections are closed, and nobody waits for them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Agent, EventSource, interceptors, ProxyAgent, WebSocket } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { type ScriptedConnection, startScriptedServer } from '../support/scripted-server.ts'

/** Answers with this head, and with a body that does not end. */
async function trickle(t: TestContext, peer: ScriptedConnection, head: string): Promise<void> {
  await peer.head()
  peer.send(`HTTP/1.1 ${head}\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegin\r\n`)
  const timer = setInterval(() => peer.send('1\r\n.\r\n'), 50)
  t.after(() => clearInterval(timer))
}

for (const [what, proxyTunnel] of [
  ['a tunnel', true],
  ['a forwarded request', false],
] as const) {
  test(`a proxy refuses ${what}`, async (t) => {
    const server = await startScriptedServer(t)
    const agent = new ProxyAgent({ uri: server.url, proxyTunnel })
    t.after(() => agent.destroy())
    const error = failure(agent.request({ origin: 'http://h.test', path: '/', method: 'GET' }))
    const peer = await server.accept()
    await trickle(t, peer, '407 No')
    const { proxy } = (await error) as { proxy?: { body: string } }
    assert.match(proxy!.body, /^begin\.+$/)
    await peer.closed()
  })
}

test('a server refuses a WebSocket', async (t) => {
  for (const head of ['403 No', '302 Found\r\nlocation: /next']) {
    const server = await startScriptedServer(t)
    const agent = new Agent()
    t.after(() => agent.destroy())
    const socket = new WebSocket(server.url.replace('http', 'ws'), { dispatcher: agent })
    const failed = once(socket, 'error')
    const peer = await server.accept()
    await trickle(t, peer, head)
    await failed
    await peer.closed()
  }
})

test('a server refuses an EventSource', async (t) => {
  const server = await startScriptedServer(t)
  const agent = new Agent()
  t.after(() => agent.destroy())
  const source = new EventSource(server.url, { dispatcher: agent })
  t.after(() => source.close())
  const failed = once(source, 'error')
  const peer = await server.accept()
  await trickle(t, peer, '403 No')
  const [{ body }] = (await failed) as [{ body: string }]
  assert.match(body, /^begin\.+$/)
  await peer.closed()
})

test('a server redirects an EventSource', async (t) => {
  const server = await startScriptedServer(t)
  const agent = new Agent()
  t.after(() => agent.destroy())
  const source = new EventSource(server.url, { dispatcher: agent })
  t.after(() => source.close())
  const message = once(source, 'message')
  const first = await server.accept()
  await trickle(t, first, '302 Found\r\nlocation: /next')
  const second = await server.accept()
  await second.head()
  second.send('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: here\n\n')
  const [{ data }] = (await message) as [{ data: string }]
  assert.equal(data, 'here')
  await first.closed()
})

test('an attempt of hedge loses', async (t) => {
  const server = await startScriptedServer(t)
  const agent = new Agent()
  t.after(() => agent.destroy())
  const hedged = agent.compose(interceptors.hedge({ delay: 0 }))
  const answer = hedged.request({ origin: server.url, path: '/', method: 'GET' })
  const loser = await server.accept()
  const winner = await server.accept()
  await trickle(t, loser, '503 No')
  await winner.head()
  winner.send('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nwon')
  assert.equal(await (await answer).body.text(), 'won')
  await loser.closed()
})
