/**
 * A caller's socket may be destroyed with a string, his signal may be no AbortSignal, and an option may be a getter that
 * throws when it is read again. What was asked for settles all the same, the next request works, and the client can be
 * closed.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { Duplex } from 'node:stream'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import type { AbortSource } from '../../src/base/abort/signal.ts'
import { type Client, type ClientOptions, errors, type RequestOptions } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { overEachWire, startOrigin, type TestOrigin, type Wire } from '../support/wire.ts'

/** A Duplex of a caller's, over a socket of the runtime's. */
class Wrapper extends Duplex {
  readonly #socket: net.Socket

  constructor(socket: net.Socket) {
    super()
    this.#socket = socket
    socket.on('data', (bytes) => this.push(bytes))
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
  }

  get alpnProtocol(): unknown {
    return (this.#socket as tls.TLSSocket).alpnProtocol
  }

  override _read(): void {}

  override _write(bytes: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(bytes, encoding, done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

function open(wire: Wire, { port }: TestOrigin, done: (socket: Wrapper) => void): void {
  const host = '127.0.0.1'
  const options = { host, port, servername: 'localhost', ca: authority, ALPNProtocols: ['h2', 'http/1.1'] }
  const socket: net.Socket = wire.secure
    ? tls.connect(options, () => done(new Wrapper(socket)))
    : net.connect(port, host, () => done(new Wrapper(socket)))
}

/** Answers all but `/silent`. */
function start(t: TestContext, wire: Wire): Promise<TestOrigin> {
  return startOrigin(t, wire, (request, response) => {
    request.resume()
    request.on('error', () => {})
    if (request.url !== '/silent') response.end('ok')
  })
}

const GET = { path: '/', method: 'GET' } as const
const SILENT = { path: '/silent', method: 'GET' } as const

async function assertUsable(client: Client): Promise<void> {
  const { body } = await client.request(GET)
  assert.equal(await body.text(), 'ok')
  await client.close()
}

const STRANGE: Record<string, () => unknown> = {
  'a string': () => 'gone',
  'a symbol': () => Symbol('gone'),
  'an error whose fields are read-only': () =>
    Object.defineProperties(new Error('gone'), { path: { value: 1 }, socket: { get: () => null } }),
  'an error of which nothing but the stack can be read': () =>
    new Proxy(new Error('gone'), {
      get: (error, key) => (key === 'message' ? assert.fail() : Reflect.get(error, key)),
      defineProperty: () => assert.fail(),
    }),
}

overEachWire('strange values', (wire) => {
  for (const [name, make] of Object.entries(STRANGE)) {
    test(`a socket is destroyed with ${name}`, async (t) => {
      const origin = await start(t, wire)
      const sockets: Wrapper[] = []
      const client = origin.client({
        connect: (_, done) =>
          open(wire, origin, (socket) => {
            sockets.push(socket)
            done(null, socket)
          }),
      })
      const requested = once(origin.server, 'request')
      const response = client.request(SILENT)
      await requested
      const reason = make()
      sockets[0]!.destroy(reason as Error)
      await response.then(
        () => assert.fail(),
        (error) => assert.ok(error === reason),
      )
      await assertUsable(client)
    })

    test(`writing to a socket throws ${name}`, async (t) => {
      const origin = await start(t, wire)
      let opened = 0
      const client = origin.client({
        connect: (_, done) =>
          open(wire, origin, (socket) => {
            if (opened++ === 0) {
              socket.write = () => {
                throw make()
              }
            }
            done(null, socket)
          }),
      })
      await client.request(GET).then(
        ({ body }) => body.text(),
        () => {},
      )
      await assertUsable(client)
    })
  }

  const signals: Record<string, object> = {
    'a target whose listeners cannot be removed': { addEventListener() {} },
    'an emitter whose listeners cannot be removed': { on() {} },
  }
  for (const [name, signal] of Object.entries(signals)) {
    test(`the signal is ${name}`, async (t) => {
      const origin = await start(t, wire)
      const client = origin.client()
      const { body } = await client.request({ ...GET, signal: signal as AbortSource })
      assert.equal(await body.text(), 'ok')
      origin.server.once('request', () => origin.sockets[0]!.destroy())
      const lost = client.request({ ...SILENT, signal: signal as AbortSource })
      await assert.rejects(lost)
      await assertUsable(client)
    })
  }

  test('the reason of a signal throws', async (t) => {
    const origin = await start(t, wire)
    const client = origin.client()
    const thrown = new Error('no reason')
    let abort = (): void => {}
    const signal: AbortSource = {
      addEventListener: (_: 'abort', listener: () => void) => {
        abort = listener
      },
      removeEventListener() {},
      get reason() {
        throw thrown
      },
    }
    const requested = once(origin.server, 'request')
    const response = client.request({ ...SILENT, signal })
    await requested
    abort()
    await assert.rejects(response, (error) => error === thrown)
    await assertUsable(client)
  })

  for (const [key, at] of [
    ['body', 2],
    ['opaque', 1],
    ['responseHeaders', 1],
  ] as const) {
    test(`${key} is a getter that throws when it is read ${at === 1 ? 'for the response' : 'again'}`, async (t) => {
      const origin = await start(t, wire)
      const client = origin.client()
      let reads = 0
      const options: RequestOptions = Object.defineProperty({ ...(at === 1 ? GET : SILENT) }, key, {
        enumerable: true,
        get() {
          reads++
          if (reads === at) throw new Error(key)
          return null
        },
      })
      if (at === 2) origin.server.once('request', () => origin.sockets[0]!.destroy())
      await assert.rejects(client.request(options), at === 1 ? { message: key } : Error)
      await assertUsable(client)
    })
  }

  test('opaque is a getter that throws, with a callback', async (t) => {
    const origin = await start(t, wire)
    const client = origin.client()
    const thrown = new Error('opaque')
    const options: RequestOptions = Object.defineProperty({ ...GET }, 'opaque', {
      get() {
        throw thrown
      },
    })
    const error = await new Promise((resolve) => client.request(options, resolve))
    assert.equal(error, thrown)
    await assertUsable(client)
  })

  const unreadable = new Proxy({}, { get: () => assert.fail('unreadable') })
  const answers: Record<string, (done: Parameters<Connector>[1]) => void> = {
    'an error of which nothing can be read': (done) => done(unreadable as Error, null),
    'a socket of which nothing can be read': (done) => done(null, unreadable as Duplex),
  }
  for (const [name, answer] of Object.entries(answers)) {
    test(`a connect function calls back with ${name}`, async (t) => {
      const origin = await start(t, wire)
      let calls = 0
      const client = origin.client({
        connect: (_, done) => {
          if (calls++ === 0) answer(done)
          else open(wire, origin, (socket) => done(null, socket))
        },
      })
      // One kind of failure is tried again.
      await client.request(GET).then(
        ({ body }) => body.text(),
        () => {},
      )
      await assertUsable(client)
    })
  }

  test('a connect function delivers a socket whose end has come and gone', async (t) => {
    const origin = await start(t, wire)
    const client = origin.client({
      connect: (_, done) => {
        const socket = new Duplex({
          read() {},
          write: (_bytes, _encoding, next) => next(),
          autoDestroy: false,
        })
        socket.push(null)
        socket.on('end', () => setImmediate(() => done(null, socket))).resume()
      },
    })
    await assert.rejects(
      client.request(GET),
      (error) => error instanceof errors.SocketError && error.message === 'other side closed',
    )
    await client.close()
  })
})

type Connector = Extract<NonNullable<ClientOptions['connect']>, (...args: never[]) => unknown>
