/**
 * A client whose caller aborts one request after another is not an attacker (CVE-2023-44487): the server never has to
 * handle more than `maxConcurrentStreams` streams at a time, open or reset.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { type DispatchController, type Dispatcher, Pool } from '../../src/index.ts'
import { CANCEL, PING, RST_STREAM } from '../../src/protocol/http2/constants.ts'
import { turns } from '../support/fake-clock.ts'
import { type H2Peer, startH2Pair, startH2Server } from '../support/h2-server.ts'
import { send } from '../support/scripted-client.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

const WIRES = [
  ['h2c', {}],
  ['h2+tls', { alpn: ['h2'] }],
] as const

/** Sends a request and aborts it as soon as it is in flight. */
function giveUp(client: Dispatcher): Promise<void> {
  return new Promise((resolve) => {
    const handler = {
      onRequestStart: (controller: DispatchController) => queueMicrotask(() => controller.abort()),
      onResponseStart() {},
      onResponseData() {},
      onResponseEnd() {},
      onResponseError: () => resolve(),
    }
    client.dispatch({ path: '/', method: 'GET' }, handler)
  })
}

/** Streams opened on the connection so far. */
const opened = (peer: H2Peer): number => peer.requests.length

for (const [name, options] of WIRES) {
  describe(`requests that are given up over ${name}`, () => {
    test('a thousand of them: no more than the limit for each round trip', async (t) => {
      const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 10 }, options)
      const all = Array.from({ length: 1000 }, () => giveUp(client))
      const peer = await server.accept()
      peer.answersPings = false
      // Until it answers anything, the server sees ten streams, all reset, followed by a PING.
      for (let round = 1; round <= 100; round++) {
        const { payload } = await peer.frame(PING)
        await turns(3)
        assert.equal(opened(peer), round * 10)
        assert.equal(peer.pending(RST_STREAM).length, round * 10)
        assert.equal(peer.pending(PING).length, 0)
        peer.pong(payload)
      }
      await Promise.all(all)
      assert.equal(server.count, 1)
      await peer.take(1000)
      peer.answersPings = true
      const last = send(client)
      peer.respond((await peer.request()).id)
      await last.settled
      assert.equal(last.body, 'ok')
    })

    test('one after the other: the same', async (t) => {
      const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 3 }, options)
      for (let i = 0; i < 3; i++) await giveUp(client)
      const waiting = send(client)
      const peer = await server.accept()
      peer.answersPings = false
      const { payload } = await peer.frame(PING)
      await turns(3)
      assert.equal(opened(peer), 3)
      assert.deepEqual([client.stats.running, client.stats.pending], [0, 1])
      peer.pong(payload)
      await peer.take(3)
      peer.respond((await peer.request()).id)
      await waiting.settled
      assert.equal(waiting.body, 'ok')
    })

    test('a few among many: no PING, and nobody waits', async (t) => {
      const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 10 }, options)
      let peer: H2Peer | null = null
      for (let i = 0; i < 5; i++) {
        const abort = new AbortController()
        const given = client.request({ path: '/', method: 'GET', signal: abort.signal })
        const handlers = Array.from({ length: 3 }, () => send(client))
        peer ??= await server.accept()
        const requests = await peer.take(4)
        abort.abort()
        await assert.rejects(given, { name: 'AbortError' })
        assert.equal(await peer.resetOf(requests[0]!.id), CANCEL)
        for (const { id } of requests.slice(1)) peer.respond(id)
        for (const handler of handlers) await handler.settled
      }
      assert.equal(peer!.pending(PING).length, 0)
    })

    test('what waits fails with the connection when the server answers nothing', async (t) => {
      const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 1 }, options)
      await giveUp(client)
      const waiting = send(client)
      const peer = await server.accept()
      peer.answersPings = false
      await peer.frame(PING)
      peer.end()
      // It was never sent, so it goes to another connection.
      const next = await server.accept()
      next.respond((await next.request()).id)
      await waiting.settled
      assert.equal(waiting.body, 'ok')
    })
  })
}

test('a pool on one connection goes on as well', async (t) => {
  const server = await startH2Server(t)
  const pool = new Pool(server.url, { connections: 1, useH2c: true, maxConcurrentStreams: 2 })
  t.after(() => pool.destroy())
  const first = giveUp(pool)
  const peer = await server.accept()
  await Promise.all([first, ...Array.from({ length: 7 }, () => giveUp(pool))])
  const answer = pool.request({ path: '/last', method: 'GET' })
  for (;;) {
    const { id, headers } = await peer.request()
    if (headers[':path'] !== '/last') continue
    peer.respond(id)
    break
  }
  assert.equal(await (await answer).body.text(), 'ok')
  assert.equal(server.count, 1)
})

for (const kind of ['H2CClient', 'Pool']) {
  test(`the process waits for a request that waits for the answer to the PING: ${kind}`, async (t) => {
    const server = await startH2Server(t)
    const program = `
      import { ${kind} } from ${JSON.stringify(sourceUrl('src/index.ts'))}
      const client = new ${kind}(process.argv[1], { maxConcurrentStreams: 1, connections: 1, useH2c: true })
      const abort = new AbortController()
      const given = client.request({ path: '/', method: 'GET', signal: abort.signal })
      client.on('connect', () => setImmediate(() => setImmediate(() => abort.abort())))
      await given.catch(() => {})
      const { body } = await client.request({ path: '/next', method: 'GET' })
      console.log(await body.text())
      await client.close()
    `
    const child = spawn(
      process.execPath,
      [...sourceLoader, '--input-type=module', '-e', program, server.url],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    t.after(() => child.kill())
    const exited = once(child, 'exit')
    let output = ''
    child.stdout.on('data', (text) => {
      output += text
    })
    const peer = await server.accept()
    peer.answersPings = false
    const { payload } = await peer.frame(PING)
    // A process with nothing to wait for would exit after a few turns; this one gets another request before.
    await turns(50)
    assert.equal(child.exitCode, null)
    peer.pong(payload)
    for (;;) {
      const { id, headers } = await peer.request()
      if (headers[':path'] !== '/next') continue
      peer.answersPings = true
      peer.respond(id, 'next')
      break
    }
    assert.deepEqual(await exited, [0, null])
    assert.equal(output, 'next\n')
  })
}
