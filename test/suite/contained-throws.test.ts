/**
 * An exception in a caller's socket, connector, stream, iterator, listener or option costs one request or one
 * connection: every request settles, the next one works, and the client can be closed.
 */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import net from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import type { Client, ClientOptions, ConnectFunction, RequestOptions } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWire, startOrigin, type TestOrigin, type Wire } from '../support/wire.ts'

const THROWN = new Error('thrown by the caller')

const raise = (): never => {
  throw THROWN
}

/** A socket as the library would open it, for tests that wrap it. */
function open(wire: Wire, { port }: TestOrigin, done: (socket: Duplex) => void): void {
  if (!wire.secure) {
    const socket = net.connect(port, '127.0.0.1', () => done(socket))
    return
  }
  const socket: tls.TLSSocket = tls.connect(
    {
      host: '127.0.0.1',
      port,
      servername: 'localhost',
      ca: authority,
      ALPNProtocols: [wire.multiplexes ? 'h2' : 'http/1.1'],
    },
    () => done(socket),
  )
}

function start(t: TestContext, wire: Wire): Promise<TestOrigin> {
  return startOrigin(t, wire, (request, response) => {
    request.resume()
    request.on('error', () => {})
    request.on('end', () => response.end('ok'))
  })
}

async function assertUsable(client: Client): Promise<void> {
  const { body } = await client.request({ path: '/next', method: 'GET' })
  assert.equal(await body.text(), 'ok')
  assert.deepEqual({ ...client.stats, connected: true }, { connected: true, pending: 0, running: 0, size: 0 })
  await client.close()
}

/** Settles either way. */
async function outcome(client: Client, options: Partial<RequestOptions> = {}): Promise<unknown> {
  try {
    const { body } = await client.request({ path: '/', method: 'GET', ...options })
    return await body.text()
  } catch (error) {
    return error
  }
}

/** The first connection misbehaves, the others do not. */
function firstOnly(wire: Wire, origin: () => TestOrigin, spoil: (socket: Duplex) => Duplex): ConnectFunction {
  let made = 0
  return (_options, callback) => {
    open(wire, origin(), (socket) => callback(null, (made++ === 0 ? spoil(socket) : socket) as net.Socket))
  }
}

overEachWire('what throws', (wire) => {
  const connecting = async (t: TestContext, spoil: (socket: Duplex) => Duplex): Promise<Client> => {
    const origin = await start(t, wire)
    const connect = firstOnly(wire, () => origin, spoil)
    return origin.client({ connect } as ClientOptions)
  }

  for (const method of ['write', 'cork', 'uncork', 'pause', 'resume', 'on', 'ref', 'unref'] as const) {
    test(`socket.${method}`, async (t) => {
      const client = await connecting(t, (socket) => Object.assign(socket, { [method]: raise }))
      const body = 'x'.repeat(20_000)
      const seen = await Promise.all([
        outcome(client),
        outcome(client, { method: 'POST', body }),
        outcome(client, { method: 'POST', body: Readable.from([body]) }),
      ])
      // Some are only called on a connection that was idle.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      seen.push(await outcome(client))
      for (const each of seen) {
        if (each !== 'ok') assert.match((each as Error).message, /^thrown by the caller/)
      }
      await assertUsable(client)
    })
  }

  test('socket.destroy', async (t) => {
    const client = await connecting(t, (socket) =>
      Object.assign(socket, {
        // Once: when the server closes, the runtime calls it, too.
        destroy() {
          Reflect.deleteProperty(socket, 'destroy')
          setImmediate(() => socket.destroy())
          raise()
        },
      }),
    )
    assert.equal(await outcome(client), 'ok')
    await client.destroy()
    assert.equal(client.destroyed, true)
  })

  for (const [title, given] of [
    ['an emitter', () => new EventEmitter()],
    ['an object with once()', () => ({ once() {} })],
    [
      'an object that throws',
      () => ({
        once() {},
        get destroyed() {
          return raise()
        },
      }),
    ],
    ['a string', () => 'socket'],
  ] as const) {
    test(`a connector that delivers ${title}`, async (t) => {
      const client = await connecting(t, () => given() as unknown as Duplex)
      // If the result is not a socket at all, the client connects again.
      const seen = await outcome(client)
      if (title === 'a string') assert.equal(seen, 'ok')
      else assert.ok(seen instanceof Error)
      await assertUsable(client)
    })
  }

  for (const kind of ['in the call', 'after its answer', 'with two answers', 'with two errors'] as const) {
    test(`a connector ${kind}`, async (t) => {
      const origin = await start(t, wire)
      let calls = 0
      const client = origin.client({
        connect: (_options, callback) => {
          if (calls++ > 0) {
            open(wire, origin, (socket) => callback(null, socket as net.Socket))
          } else if (kind === 'in the call') {
            raise()
          } else if (kind === 'with two errors') {
            callback(THROWN, null)
            callback(THROWN, null)
          } else if (kind === 'with two answers') {
            open(wire, origin, (socket) => {
              callback(null, socket as net.Socket)
              callback(THROWN, null)
              callback(null, new net.Socket())
            })
          } else {
            callback(THROWN, null)
            raise()
          }
        },
      } as ClientOptions)
      assert.equal(await outcome(client), kind === 'with two answers' ? 'ok' : THROWN)
      await assertUsable(client)
    })
  }

  const bodies: Record<string, () => unknown> = {
    'next() of an iterator': () => ({ [Symbol.asyncIterator]: () => ({ next: raise }) }),
    'Symbol.asyncIterator': () => ({ [Symbol.asyncIterator]: raise }),
    'return() of an iterator': () => ({
      [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: 1 }), return: raise }),
    }),
    'on() of a stream, the second time': () => {
      const stream = new Readable({ read() {} })
      const { on } = stream
      let calls = 0
      return Object.assign(stream, {
        on(...args: Parameters<typeof on>) {
          return ++calls === 1 ? on.apply(stream, args) : raise()
        },
      })
    },
    'resume() of a stream': () => Object.assign(new Readable({ read() {} }), { resume: raise }),
    'read() of a stream': () => Object.assign(new Readable({ read() {} }), { read: raise }),
  }
  for (const [title, make] of Object.entries(bodies)) {
    test(title, async (t) => {
      const client = (await start(t, wire)).client()
      const [failed, beside] = await Promise.all([
        outcome(client, { method: 'POST', body: make() as Readable }),
        outcome(client),
      ])
      assert.ok(failed instanceof Error)
      assert.equal(beside, 'ok')
      await assertUsable(client)
    })
  }

  test('destroy() of a stream whose request has failed', async (t) => {
    const client = (await start(t, wire)).client()
    const body = Object.assign(new Readable({ read() {} }), { destroy: raise })
    const aborter = new AbortController()
    const pending = outcome(client, { method: 'POST', body, signal: aborter.signal })
    body.push('part')
    setImmediate(() => aborter.abort(THROWN))
    assert.equal(await pending, THROWN)
    await assertUsable(client)
  })

  test('a getter among the options', async (t) => {
    const client = (await start(t, wire)).client()
    for (const name of ['path', 'method', 'headers', 'body', 'headersTimeout']) {
      const options = Object.defineProperty({ path: '/', method: 'GET' }, name, {
        get: raise,
        enumerable: true,
      })
      const handler = new RecordingHandler()
      assert.equal(client.dispatch(options, handler), false)
      assert.deepEqual(handler.errors, [THROWN])
    }
    await assertUsable(client)
  })

  for (const event of ['connect', 'disconnect', 'drain'] as const) {
    test(`a listener for ${event}: uncaught, in a tick of its own`, async (t) => {
      const client = (await start(t, wire)).client({ pipelining: 1 })
      const uncaught: unknown[] = []
      const others = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.on('uncaughtException', (error) => uncaught.push(error))
      t.after(() => {
        process.removeAllListeners('uncaughtException')
        for (const listener of others) process.on('uncaughtException', listener)
      })
      client.once(event, raise)
      assert.equal(await outcome(client), 'ok')
      await assertUsable(client)
      assert.ok(uncaught.every((error) => error === THROWN))
    })
  }
})
