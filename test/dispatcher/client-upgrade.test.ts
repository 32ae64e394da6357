import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { PassThrough } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { errors } from '../../src/index.ts'
import { memoryPair } from '../support/memory-client.ts'
import { OK, recordEvents, type ScriptedPair, send, startPair } from '../support/scripted-client.ts'
import type { ScriptedConnection } from '../support/scripted-server.ts'

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n'

async function upgrade(
  t: TestContext,
  reply = SWITCH,
): Promise<ScriptedPair & { socket: Duplex; connection: ScriptedConnection }> {
  const pair = await startPair(t)
  const upgrading = pair.client.upgrade({ path: '/', protocol: 'echo' })
  const connection = await pair.server.accept()
  const head = await connection.head()
  assert.match(head, /\r\nconnection: upgrade\r\nupgrade: echo\r\n/)
  connection.send(reply)
  const { socket } = await upgrading
  t.after(() => socket.destroy())
  return { ...pair, socket, connection }
}

describe('a socket that is handed over', () => {
  test("flows with on('data'), what came with the head first", async (t) => {
    const { socket, connection } = await upgrade(t, `${SWITCH}early `)
    let text = ''
    const done = new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        if (text === 'early late') resolve()
      })
    })
    connection.send('late')
    await done
  })

  test("flows with on('data') when nothing came with the head", async (t) => {
    const { socket, connection } = await upgrade(t)
    connection.send('late')
    const [chunk] = await once(socket, 'data')
    assert.equal(String(chunk), 'late')
  })

  test('can be piped', async (t) => {
    const { socket, connection } = await upgrade(t, `${SWITCH}early `)
    const target = socket.pipe(new PassThrough({ encoding: 'utf8' }))
    connection.end('late')
    let text = ''
    for await (const chunk of target) text += chunk
    assert.equal(text, 'early late')
  })

  test('can be iterated', async (t) => {
    const { socket, connection } = await upgrade(t, `${SWITCH}early `)
    connection.end('late')
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    assert.equal(text, 'early late')
  })

  test('can be read', async (t) => {
    const { socket } = await upgrade(t, `${SWITCH}early`)
    if (socket.readableLength === 0) await once(socket, 'readable')
    assert.equal(String(socket.read()), 'early')
  })

  test('can be written, and nothing of the client hangs on it', async (t) => {
    const { client, socket, connection } = await upgrade(t)
    socket.write('ping')
    await connection.until('ping')
    for (const event of ['data', 'drain', 'readable', 'close']) {
      assert.equal(socket.listenerCount(event), 0, event)
    }
    // Only the listener that keeps an unhandled `error` event from ending the process.
    assert.equal(socket.listenerCount('error'), 1)
    socket.emit('error', new Error('nobody sees this'))
    await client.close()
    assert.equal(socket.destroyed, false)
    socket.write('pong')
    await connection.until('pong')
  })
})

describe('an upgrade', () => {
  test('detaches the connection: disconnect, the handler, then what waits on a new one', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    const log = recordEvents(client)
    const handler = send(client, { upgrade: 'echo' }, (method) => {
      if (method === 'onRequestUpgrade') {
        log.push(`upgraded, connected ${client.stats.connected}`)
      }
    })
    const next = send(client)
    await settle()
    await say(SWITCH)
    assert.deepEqual(handler.calls, [
      'onRequestStart',
      'onRequestSent',
      'onResponseStarted',
      'onRequestUpgrade',
    ])
    assert.equal(handler.socket, sockets[0])
    assert.deepEqual(
      sockets[0]!.eventNames().map((name) => [name, sockets[0]!.listenerCount(name)]),
      [['error', 1]],
    )
    assert.deepEqual([handler.status, handler.headers?.['upgrade']], [101, 'echo'])
    assert.deepEqual(log, ['connect', 'disconnect: upgrade', 'upgraded, connected false', 'connect'])
    await say(OK)
    assert.equal(next.body, 'ok')
  })

  test('a normal response instead: the handler gets it, upgrade() fails with "bad upgrade"', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    const handler = send(client, { upgrade: 'echo' })
    await settle()
    await say(OK)
    assert.deepEqual([handler.status, handler.body], [200, 'ok'])
    const upgrading = assert.rejects(client.upgrade({ path: '/', protocol: 'echo' }), (error: Error) => {
      assert.ok(error instanceof errors.SocketError)
      return error.message.startsWith('bad upgrade')
    })
    await settle()
    await say(OK)
    await upgrading
    assert.equal(sockets.length, 2)
  })

  test('101 without the fields of an upgrade is a bad upgrade', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const handler = send(client, { upgrade: 'echo' })
    await settle()
    await say('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    assert.match(handler.error?.message ?? '', /^bad upgrade/)
  })

  test('CONNECT: any final status hands the socket over', async (t) => {
    for (const status of ['200 OK', '407 Proxy Authentication Required']) {
      const { client, sockets, settle, say } = memoryPair(t)
      const connecting = client.connect({ path: 'a.test:443' })
      await settle()
      await say(`HTTP/1.1 ${status}\r\ncontent-length: 5\r\n\r\nbytes`)
      const { statusCode, socket } = await connecting
      assert.equal(statusCode, Number.parseInt(status, 10))
      assert.equal(socket, sockets[0])
      const [chunk] = await once(socket, 'data')
      assert.equal(String(chunk), 'bytes')
      socket.destroy()
    }
  })

  test('no timer of the client runs on', async (t) => {
    const { client, socket, connection } = await upgrade(t)
    assert.deepEqual(client.stats, { connected: false, pending: 0, running: 0, size: 0 })
    connection.send('still here')
    await once(socket, 'data')
  })
})
