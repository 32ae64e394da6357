/** For how long a request body may bring nothing, by a clock that only moves when the test says so. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import type { Client } from '../../src/index.ts'
import { DATA, SETTINGS_INITIAL_WINDOW_SIZE } from '../../src/protocol/http2/constants.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { memoryPair } from '../support/memory-client.ts'
import type { RecordingHandler } from '../support/recording-handler.ts'
import { send } from '../support/scripted-client.ts'

const LIMIT = 100

interface Upload {
  readonly body: Readable
  readonly handler: RecordingHandler
}

function upload(client: Client): Upload {
  const body = new Readable({ read() {} }).on('error', () => {})
  body.push('first')
  return { body, handler: send(client, { method: 'POST', path: '/', body, requestBodyTimeout: LIMIT }) }
}

/** The time from now on until the request fails. */
async function timeLeft(clock: FakeClock, { handler }: Upload): Promise<number> {
  const start = clock.now
  while (handler.error === undefined && clock.now - start < 10 * LIMIT) await clock.advance(1)
  assert.equal((handler.error as { code?: string } | undefined)?.code, 'UND_ERR_REQ_BODY_TIMEOUT')
  return clock.now - start
}

describe('h1: requestBodyTimeout', () => {
  function start(t: TestContext): { clock: FakeClock } & ReturnType<typeof memoryPair> {
    return { clock: FakeClock.install(t), ...memoryPair(t) }
  }

  test('each piece restarts it', async (t) => {
    const { clock, client, settle } = start(t)
    const sent = upload(client)
    await settle()
    for (let i = 0; i < 5; i++) {
      await clock.advance(LIMIT - 1)
      sent.body.push('piece')
      await settle()
    }
    assert.equal(sent.handler.error, undefined)
    assert.match(await settle(), /first(?:\r\n5\r\npiece){5}/)
    assert.equal(await timeLeft(clock, sent), LIMIT)
    assert.ok(sent.body.destroyed)
  })

  test('it does not run while the server does not read', async (t) => {
    const { clock, client, settle, sockets } = start(t)
    const sent = upload(client)
    await settle()
    const [socket] = sockets
    socket!.held = true
    for (let i = 0; i < 4; i++) sent.body.push('x'.repeat(65_536))
    await settle()
    await clock.advance(20 * LIMIT)
    assert.equal(sent.handler.error, undefined)
    socket!.release()
    await turns(20)
    assert.ok(socket!.written.length > 4 * 65_536)
    assert.equal(await timeLeft(clock, sent), LIMIT)
  })
})

describe('h2c: requestBodyTimeout', () => {
  async function start(t: TestContext) {
    const pair = await startH2Pair(t, {}, { settings: [[SETTINGS_INITIAL_WINDOW_SIZE, 10]] })
    const warming = send(pair.client, { path: '/' })
    const peer = await pair.server.accept()
    peer.respond((await peer.request()).id)
    await warming.settled
    const clock = FakeClock.install(t)
    const sent = upload(pair.client)
    const { id } = await peer.request()
    assert.equal(String((await peer.frame(DATA, id)).payload), 'first')
    return { clock, peer, id, sent }
  }

  test('each piece restarts it', async (t) => {
    const { clock, peer, id, sent } = await start(t)
    for (let i = 0; i < 5; i++) {
      await clock.advance(LIMIT - 1)
      peer.windowUpdate(id, 5)
      sent.body.push('piece')
      assert.equal(String((await peer.frame(DATA, id)).payload), 'piece')
    }
    assert.equal(sent.handler.error, undefined)
    assert.equal(await timeLeft(clock, sent), LIMIT)
    assert.ok(sent.body.destroyed)
  })

  test('it does not run while the server does not read', async (t) => {
    const { clock, peer, id, sent } = await start(t)
    const large = 'x'.repeat(262_144)
    sent.body.push(large)
    assert.equal(String((await peer.frame(DATA, id)).payload), 'xxxxx')
    await peer.settled()
    await clock.advance(20 * LIMIT)
    assert.equal(sent.handler.error, undefined)
    peer.windowUpdate(0, large.length).windowUpdate(id, large.length)
    let received = 5
    while (received < large.length) received += (await peer.frame(DATA, id)).payload.length
    await eventually(() => clock.active.size > 0)
    assert.equal(await timeLeft(clock, sent), LIMIT)
  })
})
