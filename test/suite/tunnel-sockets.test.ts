/**
 * The socket that `upgrade()` and `connect()` hand over via HTTP/1.1 behaves like the runtime's own: each test also
 * runs with such a socket.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { contentOf } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { isSecure, openTunnel, SOCKET_WIRES, TUNNEL_KINDS } from '../support/tunnel.ts'

const MUCH = Buffer.alloc(64 * 1024 * 1024, 'much ')

for (const kind of TUNNEL_KINDS) {
  for (const wire of SOCKET_WIRES) {
    describe(`the socket of ${kind}() over ${wire}`, () => {
      async function open(t: TestContext, early = ''): Promise<{ socket: Socket; peer: Duplex }> {
        let peer!: Duplex
        const socket = await openTunnel(t, wire, kind, (given) => {
          peer = given
          return early
        })
        return { socket, peer }
      }

      test('neither flows nor pauses', async (t) => {
        const { socket } = await open(t)
        assert.equal(socket.readableFlowing === true, false)
        assert.equal(socket.isPaused(), false)
        assert.equal(socket.readableEnded, false)
        assert.equal(socket.timeout ?? 0, 0)
        assert.equal(socket.allowHalfOpen, false)
      })

      test('a reader that pauses makes the peer stop', { timeout: 20_000 }, async (t) => {
        const { socket, peer } = await open(t)
        let received = 0
        socket.on('data', (chunk) => {
          received += chunk.length
          socket.pause()
        })
        peer.write(MUCH)
        await eventually(() => received > 0)
        for (let held = -1; held !== socket.readableLength; ) {
          held = socket.readableLength
          await turns(20)
        }
        assert.ok(received + socket.readableLength < 400_000, `${received} + ${socket.readableLength}`)
        assert.ok(peer.writableLength > 0)
        socket.removeAllListeners('data')
        socket.on('data', (chunk) => {
          received += chunk.length
        })
        socket.resume()
        await eventually(() => received === MUCH.length)
      })

      test('one that was never read makes the peer stop', async (t) => {
        const { socket, peer } = await open(t)
        peer.write(MUCH)
        await eventually(() => socket.readableLength > 0)
        for (let held = -1; held !== socket.readableLength; ) {
          held = socket.readableLength
          await turns(20)
        }
        assert.ok(socket.readableLength < 400_000, String(socket.readableLength))
        assert.ok(peer.writableLength > 0)
      })

      for (const early of ['', 'early ']) {
        const title = early === '' ? '' : ', with bytes behind the head'

        test(`pause() first, then a reader and resume()${title}`, async (t) => {
          const { socket, peer } = await open(t, early)
          socket.pause()
          let received = ''
          socket.on('data', (chunk) => {
            received += String(chunk)
          })
          peer.write('bytes')
          await turns(20)
          assert.equal(received, '')
          assert.ok(socket.isPaused())
          socket.resume()
          await eventually(() => received === `${early}bytes`)
        })

        test(`pause(), then readable and read()${title}`, { timeout: 30_000 }, async (t) => {
          const { socket, peer } = await open(t, early)
          socket.pause()
          await turns(3)
          let received = ''
          socket.on('readable', () => {
            for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) received += String(chunk)
          })
          peer.write('bytes')
          await eventually(() => received === `${early}bytes`)
        })

        test(`data, then readable instead${title}`, { timeout: 30_000 }, async (t) => {
          const { socket, peer } = await open(t, early)
          let received = ''
          const onData = (chunk: Buffer): void => {
            received += String(chunk)
          }
          socket.on('data', onData)
          peer.write('one ')
          await eventually(() => received === `${early}one `)
          socket.off('data', onData)
          socket.on('readable', () => {
            for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) received += String(chunk)
          })
          peer.write('two')
          await eventually(() => received === `${early}one two`)
        })

        test(`setEncoding()${title}`, async (t) => {
          const { socket, peer } = await open(t, early)
          socket.setEncoding('utf8')
          const euro = Buffer.from('€')
          peer.write(euro.subarray(0, 1))
          let received = ''
          socket.on('data', (chunk) => {
            assert.equal(typeof chunk, 'string')
            received += chunk
          })
          await turns(5)
          peer.end(euro.subarray(1))
          await once(socket, 'end')
          assert.equal(received, `${early}€`)
        })
      }

      test('read() in pieces, and after the end', async (t) => {
        const { socket, peer } = await open(t, 'abc')
        peer.write('def')
        await eventually(() => socket.readableLength === 6)
        assert.equal(String(socket.read(2)), 'ab')
        let rest = ''
        // Node 26 returns one chunk at a time.
        for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) rest += String(chunk)
        assert.equal(rest, 'cdef')
        peer.end()
        await once(socket, 'end')
        assert.equal(socket.read(), null)
        assert.equal(socket.readableEnded, true)
      })

      test('the end of the peer, with nothing to read and nobody who reads', {
        timeout: 30_000,
      }, async (t) => {
        const { socket, peer } = await open(t)
        const events: string[] = []
        for (const name of ['end', 'finish', 'close']) socket.on(name, () => events.push(name))
        peer.end()
        await once(socket, 'close')
        assert.deepEqual(events, ['end', 'finish', 'close'])
      })

      test('the end of the peer waits for a reader', async (t) => {
        const { socket, peer } = await open(t)
        let ended = false
        socket.on('end', () => {
          ended = true
        })
        peer.end('bytes')
        await eventually(() => socket.readableLength === 5)
        await turns(10)
        assert.equal(ended, false)
        assert.equal(String(await contentOf(socket)), 'bytes')
        assert.ok(ended)
      })

      test('our end, and what the peer still says', async (t) => {
        const { socket, peer } = await open(t)
        peer.resume()
        peer.on('end', () => peer.end('goodbye'))
        socket.end('hello')
        assert.equal(String(await contentOf(socket)), 'goodbye')
      })

      test('setTimeout() hears when nothing comes', { timeout: 30_000 }, async (t) => {
        const { socket, peer } = await open(t)
        socket.setTimeout(20)
        await once(socket, 'timeout')
        socket.setTimeout(0)
        peer.write('x')
        assert.equal(String((await once(socket, 'data'))[0]), 'x')
      })

      const skip = isSecure(wire) && 'the runtime cannot reset under TLS'
      test('a reset is an error', { timeout: 30_000, skip }, async (t) => {
        const { socket, peer } = await open(t)
        const closed = once(socket, 'close').catch((error: NodeJS.ErrnoException) => error.code)
        const under = peer as Socket
        under.resetAndDestroy()
        assert.equal(await closed, 'ECONNRESET')
      })
    })
  }
}
