import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errors } from '../../src/index.ts'
import { ping } from '../../src/websocket/websocket.ts'
import { CLOSE, closePayload, PING, serverFrame, TEXT } from '../protocol/websocket/server-frames.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { closed, opened, record, startRawServer } from './raw-server.ts'

describe('close()', () => {
  it('checks its arguments in any state', async (t) => {
    const raw = await startRawServer(t)
    const socket = raw.open()
    const check = (): void => {
      for (const code of [0, 999, 1001, 1005, 1006, 2999, 5000, -1, 70_000, Number.NaN, 'x']) {
        assert.throws(() => socket.close(code as number), { name: 'InvalidAccessError' }, String(code))
      }
      assert.throws(() => socket.close(1000, 'x'.repeat(124)), { name: 'SyntaxError' })
      assert.throws(() => socket.close(1000, '\u00fc'.repeat(62)), { name: 'SyntaxError' })
      assert.throws(() => socket.close(1000, Symbol('x') as never), TypeError)
    }
    check()
    assert.equal(socket.readyState, 0)
    await opened(socket)
    check()
    assert.equal(socket.readyState, 1)
    const close = closed(socket)
    socket.close()
    check()
    const peer = await raw.accept()
    peer.send(serverFrame(CLOSE))
    await close
    check()
    socket.close()
  })

  const rows: [string, [code?: number | undefined, reason?: string], string][] = [
    ['nothing', [], 'empty'],
    ['a code', [3000], '3000 '],
    ['a code and a reason', [4999, 'x'.repeat(123)], `4999 ${'x'.repeat(123)}`],
    ['a reason alone', [undefined, 'why'], '1000 why'],
  ]
  for (const [name, args, sent] of rows) {
    it(`with ${name}`, async (t) => {
      const raw = await startRawServer(t)
      const [socket, peer] = await raw.pair()
      const close = closed(socket)
      socket.close(...args)
      assert.equal(socket.readyState, 2)
      socket.close(3001, 'again')
      assert.equal(await peer.closeFrame(), sent)
      peer.send(serverFrame(CLOSE, closePayload(4000, 'mine')))
      const { code, reason, wasClean } = await close
      assert.deepEqual([code, reason, wasClean], [4000, 'mine', true])
      assert.equal(await peer.frame(), null)
    })
  }

  it('nothing is pinged after it', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const close = closed(socket)
    socket.close(3000)
    ping(socket, Buffer.from('late'))
    assert.equal((await peer.frame())!.opcode, CLOSE)
    peer.send(serverFrame(CLOSE))
    await close
    ping(socket)
    assert.equal(await peer.frame(), null)
  })

  it('gives a peer that does not answer thirty seconds', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const clock = FakeClock.install(t)
    const events = record(socket)
    socket.close()
    assert.equal(await peer.closeFrame(), 'empty')
    await eventually(() => [...clock.active].some((timer) => timer.delay === 30_000))
    await clock.advance(29_999)
    assert.deepEqual(events, [])
    await clock.advance(1)
    await eventually(() => socket.readyState === 3)
    assert.deepEqual(events, ['error SocketError other side closed', 'close 1006  unclean'])
  })

  it('gives a peer that keeps the connection one second more', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    peer.closes = false
    const clock = FakeClock.install(t)
    const events = record(socket)
    peer.send(serverFrame(CLOSE, closePayload(1000)))
    await peer.ended()
    assert.equal(socket.readyState, 2)
    await clock.advance(1000)
    await eventually(() => socket.readyState === 3)
    assert.deepEqual(events, ['close 1000  clean'])
    assert.equal(clock.active.size, 0)
  })
})

describe('a server that closes', () => {
  const rows: [string, Buffer, string, string][] = [
    ['without a code', serverFrame(CLOSE), 'empty', 'close 1005  clean'],
    ['with a code', serverFrame(CLOSE, closePayload(1001)), '1001 ', 'close 1001  clean'],
    ['with a reason', serverFrame(CLOSE, closePayload(3000, '\ufeffbye')), '3000 ', 'close 3000 bye clean'],
  ]
  for (const [name, frame, echoed, event] of rows) {
    it(name, async (t) => {
      const raw = await startRawServer(t)
      const [socket, peer] = await raw.pair()
      const events = record(socket)
      const close = closed(socket)
      peer.send(serverFrame(TEXT, 'hi'), frame, serverFrame(PING), serverFrame(TEXT, 'late'))
      assert.equal(await peer.closeFrame(), echoed)
      assert.equal(await peer.frame(), null)
      await close
      assert.deepEqual(events, ['message hi', event])
    })
  }

  it('and hangs up right after', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const events = record(socket)
    const close = closed(socket)
    peer.send(serverFrame(CLOSE, closePayload(1000)))
    peer.socket.end()
    await close
    assert.deepEqual(events, ['close 1000  clean'])
  })

  it('and hangs up while a Blob is being read: that is still sent, and then our answer', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const blob = new Blob(['late'])
    let release = (): void => {}
    const read = blob.arrayBuffer.bind(blob)
    blob.arrayBuffer = async () => {
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return read()
    }
    const events = record(socket)
    const close = closed(socket)
    socket.send(blob)
    peer.send(serverFrame(CLOSE, closePayload(1000)))
    peer.socket.end()
    await eventually(() => socket.readyState === 2)
    release()
    assert.equal(String((await peer.frame())!.payload), 'late')
    assert.equal(await peer.closeFrame(), '1000 ')
    await close
    assert.deepEqual(events, ['close 1000  clean'])
  })

  it('at the same time as we do', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const events = record(socket)
    const close = closed(socket)
    peer.send(serverFrame(TEXT, 'now'), serverFrame(CLOSE, closePayload(3002)))
    socket.onmessage = () => socket.close(3001)
    await close
    assert.equal(await peer.closeFrame(), '3001 ')
    assert.equal(await peer.frame(), null)
    assert.deepEqual(events, ['message now', 'close 3002  clean'])
  })
})

describe('a connection that is lost', () => {
  it('ended without a close frame', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const events = record(socket)
    const close = closed(socket)
    let error: unknown
    socket.onerror = (event) => {
      error = event.error
      assert.equal(socket.readyState, 3)
    }
    peer.socket.end()
    await close
    assert.deepEqual(events, ['error SocketError other side closed', 'close 1006  unclean'])
    assert.ok(error instanceof errors.SocketError)
    socket.send('x')
  })

  it('reset', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const events = record(socket)
    const close = closed(socket)
    ;(peer.socket as unknown as { resetAndDestroy(): void }).resetAndDestroy()
    await close
    assert.match(events[0]!, /^error Error .*ECONNRESET/)
    assert.equal(events[1], 'close 1006  unclean')
  })

  it('while a Blob is being read: nothing more happens', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const settle: (() => void)[] = []
    for (const fails of [false, true]) {
      const blob = new Blob(['x'])
      blob.arrayBuffer = () =>
        new Promise((resolve, reject) => {
          settle.push(() => (fails ? reject(new Error('late')) : resolve(new ArrayBuffer(1))))
        })
      socket.send(blob)
    }
    const events = record(socket)
    const close = closed(socket)
    peer.socket.destroy()
    await close
    for (const finish of settle) finish()
    await turns(2)
    assert.equal(events.length, 2)
  })

  it('a message in half', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const events = record(socket)
    const close = closed(socket)
    peer.send(serverFrame(TEXT, 'whole'), serverFrame(TEXT, 'half').subarray(0, 4))
    peer.socket.end()
    await close
    assert.deepEqual(events, ['message whole', 'error SocketError other side closed', 'close 1006  unclean'])
  })
})
