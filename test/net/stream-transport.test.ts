import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import type { TransportSink } from '../../src/net/stream-transport.ts'
import { StreamTransport } from '../../src/net/stream-transport.ts'
import { turns } from '../support/fake-clock.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { type ScriptedConnection, startScriptedServer } from '../support/scripted-server.ts'

class Sink implements TransportSink {
  readonly calls: string[] = []

  onBytes(memory: Buffer, length: number): void {
    this.calls.push(`bytes ${memory.toString('latin1', 0, length)}`)
  }

  onDrain(): void {
    this.calls.push('drain')
  }

  onEof(): void {
    this.calls.push('eof')
  }

  onTransportClosed(error: Error | null): void {
    this.calls.push(`closed ${error?.message ?? 'in order'}`)
  }
}

function overMemory(): { socket: MemorySocket; transport: StreamTransport; sink: Sink } {
  const socket = new MemorySocket()
  const transport = new StreamTransport(socket)
  const sink = new Sink()
  transport.attach(sink)
  return { socket, transport, sink }
}

async function overTcp(
  t: TestContext,
): Promise<{ socket: net.Socket; transport: StreamTransport; sink: Sink; peer: ScriptedConnection }> {
  const server = await startScriptedServer(t)
  const socket = net.connect(server.port, '127.0.0.1')
  await once(socket, 'connect')
  const transport = new StreamTransport(socket)
  const sink = new Sink()
  transport.attach(sink)
  return { socket, transport, sink, peer: await server.accept() }
}

describe('StreamTransport', () => {
  test('brings bytes, the end and an orderly close', async () => {
    const { socket, sink } = overMemory()
    socket.say('one')
    await turns(1)
    socket.say('two').finish()
    await turns(1)
    socket.end()
    await once(socket, 'close')
    assert.deepEqual(sink.calls, ['bytes one', 'bytes two', 'eof', 'closed in order'])
  })

  test('brings the error with the close', async () => {
    const { socket, sink } = overMemory()
    socket.destroy(new Error('broken'))
    await once(socket, 'close').catch(() => {})
    await turns(1)
    assert.deepEqual(sink.calls, ['closed broken'])
  })

  test('an error on a socket that lives on is the end of it, and not hidden by the end that follows', async () => {
    const { socket, sink } = overMemory()
    socket.emit('error', new Error('alert'))
    socket.finish()
    await turns(3)
    assert.deepEqual(sink.calls, ['closed alert'])
  })

  test('a sink that throws costs the connection, not the process', async () => {
    for (const event of ['onBytes', 'onDrain', 'onEof'] as const) {
      const { socket, sink } = overMemory()
      sink[event] = () => {
        throw new Error(`mistake in ${event}`)
      }
      const closed = once(socket, 'close')
      if (event === 'onBytes') socket.say('one')
      else if (event === 'onEof') socket.finish()
      else socket.emit('drain')
      await closed.catch(() => {})
      await turns(1)
      assert.equal(sink.calls.at(-1), `closed mistake in ${event}`)
    }
  })

  test('its own destroy comes back once, with the reason', async () => {
    const { transport, sink, socket } = overMemory()
    transport.destroy(new Error('enough'))
    assert.equal(socket.destroyed, true)
    assert.deepEqual(sink.calls, [])
    await turns(3)
    assert.deepEqual(sink.calls, ['closed enough'])
  })

  test('a Duplex that never tells of its close is taken as closed all the same', async () => {
    const socket = new MemorySocket()
    socket._destroy = () => {}
    const transport = new StreamTransport(socket)
    const sink = new Sink()
    transport.attach(sink)
    transport.destroy(null)
    await turns(2)
    assert.deepEqual(sink.calls, ['closed in order'])
  })

  test('leaves only a guard against late errors on a closed socket', async () => {
    const { socket, transport } = overMemory()
    transport.destroy(null)
    await turns(3)
    for (const event of ['data', 'drain', 'end', 'close']) assert.equal(socket.listenerCount(event), 0, event)
    socket.emit('error', new Error('late'))
  })

  test('pauses and resumes reading', async () => {
    const { socket, transport, sink } = overMemory()
    transport.setReading(false)
    socket.say('later')
    await turns(2)
    assert.deepEqual(sink.calls, [])
    transport.setReading(true)
    await turns(1)
    assert.deepEqual(sink.calls, ['bytes later'])
  })

  test('is congested while the socket does not take more, and tells when it does', async () => {
    const { socket, transport, sink } = overMemory()
    assert.equal(transport.congested, false)
    socket.held = true
    transport.writeAll([Buffer.alloc(socket.writableHighWaterMark + 1)])
    assert.equal(transport.congested, true)
    await turns(1)
    assert.equal(transport.congested, true)
    socket.release()
    await turns(1)
    assert.equal(transport.congested, false)
    assert.deepEqual(sink.calls, ['drain'])
  })

  for (const [method, provoke] of [
    ['onBytes', (socket: MemorySocket) => socket.say('x')],
    ['onEof', (socket: MemorySocket) => socket.finish().resume()],
    ['onDrain', (socket: MemorySocket) => socket.emit('drain')],
  ] as const) {
    test(`a mistake in ${method} costs the connection, not the process`, async () => {
      const { socket, sink } = overMemory()
      sink[method] = () => {
        throw new Error(`mistake in ${method}`)
      }
      provoke(socket)
      await turns(4)
      assert.equal(socket.destroyed, true)
      assert.deepEqual(sink.calls, [`closed mistake in ${method}`])
    })
  }

  test('sets the type of service once per value, where the socket can', () => {
    const { socket, transport } = overMemory()
    transport.setTypeOfService(1)
    const values: number[] = []
    Object.assign(socket, { setTypeOfService: (value: number) => values.push(value) })
    transport.setTypeOfService(1)
    transport.setTypeOfService(1)
    transport.setTypeOfService(2)
    assert.deepEqual(values, [1, 2])
    Object.assign(socket, {
      setTypeOfService: () => {
        throw new Error('refused')
      },
    })
    transport.setTypeOfService(3)
  })

  test('references the socket only when told so', async (t) => {
    const { socket, transport } = await overTcp(t)
    const calls: string[] = []
    t.mock.method(socket, 'ref', () => calls.push('ref'))
    t.mock.method(socket, 'unref', () => calls.push('unref'))
    for (const on of [true, false, false, true]) transport.setReferenced(on)
    assert.deepEqual(calls, ['unref', 'ref'])
    socket.destroy()
  })

  test('remembers the addresses of a socket that has closed', async (t) => {
    const { socket, transport, peer } = await overTcp(t)
    const before = transport.info()
    assert.equal(before.remoteAddress, '127.0.0.1')
    assert.equal(before.remotePort, socket.remotePort)
    assert.equal(before.localPort, socket.localPort)
    assert.equal(before.remoteFamily, 'IPv4')
    transport.writeAll(['hello'])
    await peer.until('hello')
    const closed = once(socket, 'close')
    transport.destroy(null)
    await closed
    const after = transport.info()
    assert.equal(after.localPort, before.localPort)
    assert.equal(after.remotePort, before.remotePort)
    assert.equal(after.bytesWritten, 5)
    assert.equal(after.bytesRead, 0)
  })

  test('what is written before a detach leaves, and the sink hears nothing more', async (t) => {
    const { socket, transport, sink, peer } = await overTcp(t)
    transport.setReferenced(false)
    transport.writeAll(['last'])
    assert.equal(transport.detach(Buffer.from('unread ')), socket)
    await peer.until('last')
    peer.send('more')
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      if (text === 'unread more') socket.destroy()
    })
    await once(socket, 'close')
    assert.equal(text, 'unread more')
    assert.deepEqual(sink.calls, [])
    assert.deepEqual(
      ['drain', 'end', 'close', 'error'].map((name) => socket.listeners(name).length),
      // The socket itself has an `end` listener.
      [0, 1, 0, 0],
    )
  })
})
