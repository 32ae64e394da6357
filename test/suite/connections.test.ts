/** `connections()`: what is there, over each protocol and through each kind of dispatcher. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { test } from 'node:test'
import type { ConnectionSnapshot, DiagnosticsChannel } from '../../src/index.ts'
import { localhost } from '../support/certificates.ts'
import { eventually } from '../support/fake-clock.ts'
import { loadOf, overEachWay, startOrigin } from '../support/wire.ts'

/** Why some connections end in these tests. */
function endings(t: { after(done: () => void): void }): DiagnosticsChannel.ClientDisconnectedMessage[] {
  const messages: DiagnosticsChannel.ClientDisconnectedMessage[] = []
  const onMessage = (message: unknown): void => {
    messages.push(message as DiagnosticsChannel.ClientDisconnectedMessage)
  }
  channel('ventuno:client:disconnected').subscribe(onMessage)
  t.after(() => channel('ventuno:client:disconnected').unsubscribe(onMessage))
  return messages
}

overEachWay('connections()', (way) => {
  const protocol = way.multiplexes ? 'h2' : 'h1'

  test('shows a connection while it is opened, in use and idle', async (t) => {
    let answer: (() => void) | null = null
    const origin = await startOrigin(t, way, (request, reply) => {
      request.resume()
      answer = () => reply.end('x'.repeat(5000))
    })
    const dispatcher = origin.dispatcher()
    assert.deepEqual(dispatcher.connections(), [])

    const connected = once(dispatcher, 'connect')
    const response = dispatcher.request({ path: '/', method: 'POST', body: 'y'.repeat(3000) })
    const [opening] = dispatcher.connections() as [ConnectionSnapshot]
    assert.equal(opening.state, 'connecting')
    assert.equal(opening.tls, way.secure)
    assert.equal(opening.origin, origin.url)
    assert.equal(opening.openedAt, null)
    await connected

    await eventually(() => answer !== null)
    const [active, ...others] = dispatcher.connections() as [ConnectionSnapshot]
    assert.deepEqual(others, [])
    const [socket] = origin.sockets
    const { id, state, requests, running, idleTime } = active
    assert.deepEqual(
      { state, requests, running, idleTime },
      { state: 'active', requests: 1, running: 1, idleTime: null },
    )
    assert.equal(id, opening.id)
    assert.equal(active.protocol, protocol)
    assert.equal(active.tls, way.secure)
    assert.equal(active.proxy, null)
    assert.equal(active.remotePort, origin.port)
    assert.equal(active.localPort, socket!.remotePort)
    assert.equal(active.localAddress, active.remoteAddress)
    assert.equal(active.family, socket!.remoteFamily)
    assert.equal(active.streams, way.multiplexes ? 1 : null)
    assert.equal(active.maxStreams === null, !way.multiplexes)
    assert.ok(active.bytesWritten! > 3000 && active.bytesWritten! < 5000, String(active.bytesWritten))
    assert.ok(active.bytesRead! < 2000)
    assert.ok(active.connectTime! > 0)
    assert.equal(active.tlsTime === null, !way.secure)
    assert.ok(active.age >= 0 && active.age < 60_000)
    assert.ok(Math.abs(Date.parse(active.openedAt!) - Date.now()) < 60_000)
    const { validTo } = new X509Certificate(localhost.cert)
    assert.equal(active.certificateValidTo, way.secure ? new Date(validTo).toISOString() : null)
    assert.equal(active.lastEndCode, null)

    answer!()
    await (await response).body.dump()
    await eventually(() => dispatcher.connections()[0]?.idleTime !== null)
    const [idle] = dispatcher.connections() as [ConnectionSnapshot]
    assert.equal(idle.state, 'idle')
    assert.deepEqual([idle.id, idle.requests, idle.running], [id, 1, 0])
    assert.equal(idle.openedAt, active.openedAt)
    assert.ok(idle.bytesRead! >= 5000 && idle.bytesRead! < 7000, String(idle.bytesRead))
    assert.deepEqual(JSON.parse(JSON.stringify(idle)), { ...idle })
    assert.ok(Object.values(idle).every((value) => value === null || typeof value !== 'object'))
  })

  test('agrees with stats and with the server', async (t) => {
    const waiting: (() => void)[] = []
    const origin = await startOrigin(t, way, (_request, reply) => {
      waiting.push(() => reply.end('ok'))
    })
    const open = (): number => origin.sockets.filter((socket) => !socket.destroyed).length
    const dispatcher = origin.dispatcher({ connections: 3 })
    const responses = [1, 2, 3].map(async () => {
      const { body } = await dispatcher.request({ path: '/', method: 'GET' })
      return body.text()
    })
    const agrees = (): boolean => {
      const rows = dispatcher.connections()
      const load = loadOf(dispatcher)
      const running = rows.reduce((sum, row) => sum + row.running, 0)
      return rows.length === load.connected && running === load.running && rows.length === open()
    }
    // A client has one connection for one request at a time.
    const most = way.kind === 'Client' && !way.multiplexes ? 1 : 3
    await eventually(() => waiting.length === most)
    assert.ok(agrees())
    assert.equal(
      dispatcher.connections().reduce((sum, row) => sum + row.running, 0),
      most,
    )
    while (waiting.length > 0 || loadOf(dispatcher).size > 0) {
      waiting.shift()?.()
      await new Promise(setImmediate)
    }
    await Promise.all(responses)
    assert.ok(agrees())
    assert.equal(
      dispatcher.connections().reduce((sum, row) => sum + row.requests, 0),
      3,
    )
    await dispatcher.close()
    assert.deepEqual(dispatcher.connections(), [])
    await eventually(() => open() === 0)
  })

  test('shows one that drains beside the next, which knows why', async (t) => {
    const waiting: (() => void)[] = []
    const origin = await startOrigin(t, way, (request, reply) => {
      if (request.url === '/slow') waiting.push(() => reply.end('slow'))
      else reply.end('quick')
    })
    const dispatcher = origin.dispatcher({ connections: 1 })
    const get = async (path: string): Promise<string> => {
      const { body } = await dispatcher.request({ path, method: 'GET' })
      return body.text()
    }
    const slow = get('/slow')
    await eventually(() => waiting.length === 1)
    dispatcher.retire()
    const states = (): string[] => dispatcher.connections().map(({ state }) => state)
    assert.deepEqual(states(), ['draining'])
    const quick = get('/quick')
    if (way.multiplexes) {
      await quick
      assert.deepEqual(states().sort(), ['draining', 'idle'])
    }
    const ended = endings(t)
    waiting[0]!()
    assert.deepEqual([await slow, await quick], ['slow', 'quick'])
    await eventually(() => dispatcher.connections().length === 1 && states()[0] === 'idle')
    const [next] = dispatcher.connections() as [ConnectionSnapshot]
    assert.equal(next.lastEndCode, 'UND_ERR_INFO')
    const reason = way.multiplexes ? 'retired' : 'reset'
    assert.equal(next.lastEndMessage, reason)
    assert.ok(Math.abs(Date.parse(next.lastEndAt!) - Date.now()) < 60_000)
    const [message] = ended
    assert.equal(message!.connection.state, 'closing')
    assert.equal(message!.connection.requests, 1)
    assert.notEqual(message!.connection.id, next.id)
    assert.ok(message!.duration > 0)
    assert.equal(message!.error.message, reason)
    assert.equal(ended.length, 1)
  })

  test('may be looked at, and its client destroyed, when one has ended', async (t) => {
    const origin = await startOrigin(t, way, () => origin.sockets[0]!.destroy())
    const dispatcher = origin.dispatcher()
    const listed: number[] = []
    const onEnd = (): void => {
      listed.push(dispatcher.connections().filter(({ state }) => state !== 'closing').length)
      void dispatcher.destroy()
    }
    channel('ventuno:client:disconnected').subscribe(onEnd)
    t.after(() => channel('ventuno:client:disconnected').unsubscribe(onEnd))
    await assert.rejects(dispatcher.request({ path: '/', method: 'GET' }))
    await eventually(() => listed.length === 1)
    await dispatcher.destroy()
    assert.deepEqual(listed, [0])
    assert.deepEqual(dispatcher.connections(), [])
  })

  test('tells of each end to whom asked, with its client', async (t) => {
    const ended = endings(t)
    const origin = await startOrigin(t, way, (_request, reply) => void reply.end('ok'))
    const dispatcher = origin.dispatcher()
    let client: unknown = null
    dispatcher.on('connect', (_origin, targets) => {
      client = targets.at(-1)
    })
    await (await dispatcher.request({ path: '/', method: 'GET' })).body.text()
    const [row] = dispatcher.connections() as [ConnectionSnapshot]
    for (const socket of origin.sockets) socket.destroy()
    await eventually(() => ended.length === 1)
    assert.equal(ended[0]!.client, client)
    assert.deepEqual([ended[0]!.connection.id, ended[0]!.connection.requests], [row.id, 1])
    await eventually(() => dispatcher.connections().length === 0)
    await (await dispatcher.request({ path: '/', method: 'GET' })).body.text()
    await dispatcher.destroy()
    assert.equal(ended.length, 2)
    assert.deepEqual(dispatcher.connections(), [])
  })
})
