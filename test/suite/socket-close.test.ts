/** `destroy()` and `close()` are complete when the sockets have closed, whatever kind of Duplex they are. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Http2ServerResponse } from 'node:http2'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import type { ConnectFunction } from '../../src/dispatcher/client-options.ts'
import {
  Agent,
  BalancedPool,
  buildConnector,
  Client,
  type Dispatcher,
  H2CClient,
  Pool,
  RoundRobinPool,
} from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { deferred } from '../support/exchange.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { overEachWire, startOrigin, type Wire } from '../support/wire.ts'

/** Forwards the bytes of another socket and closes when the test allows it. */
class SlowDuplex extends Duplex {
  readonly alpnProtocol: unknown
  readonly #inner: Socket
  #close: (() => void) | null = null

  constructor(inner: Socket) {
    super()
    this.#inner = inner
    this.alpnProtocol = (inner as TLSSocket).alpnProtocol
    inner.on('data', (chunk) => void this.push(chunk))
    inner.on('end', () => void this.push(null))
    inner.on('error', () => {})
  }

  get isClosing(): boolean {
    return this.#close !== null
  }

  letClose(): void {
    this.#close!()
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#inner.write(chunk, done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#inner.destroy()
    this.#close = () => done(error)
  }
}

/** The same as a socket of the runtime's class. */
class SlowSocket extends Socket {
  #close: (() => void) | null = null

  get isClosing(): boolean {
    return this.#close !== null
  }

  letClose(): void {
    this.#close!()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#close = () => super._destroy(error, done)
  }
}

const KINDS = ['Client', 'Pool', 'Agent', 'BalancedPool', 'RoundRobinPool'] as const
const WAYS = ['destroy()', 'destroy(callback)', 'close()', 'await using'] as const

function make(kind: (typeof KINDS)[number], wire: Wire, url: string, connect: ConnectFunction): Dispatcher {
  const options = { connect, useH2c: wire.name === 'h2c' }
  switch (kind) {
    case 'Client':
      return wire.name === 'h2c' ? new H2CClient(url, { connect }) : new Client(url, options)
    case 'Pool':
      return new Pool(url, options)
    case 'Agent':
      return new Agent(options)
    case 'BalancedPool':
      return new BalancedPool(url, options)
    case 'RoundRobinPool':
      return new RoundRobinPool(url, options)
  }
}

function end(dispatcher: Dispatcher, way: (typeof WAYS)[number]): Promise<unknown> {
  switch (way) {
    case 'destroy()':
      return dispatcher.destroy()
    case 'destroy(callback)':
      return new Promise((resolve) => dispatcher.destroy(resolve))
    case 'close()':
      return dispatcher.close()
    case 'await using':
      return dispatcher[Symbol.asyncDispose]()
  }
}

overEachWire('a socket that takes its time to close', (wire) => {
  const slowly = async (
    t: TestContext,
  ): Promise<{
    url: string
    sockets: SlowDuplex[]
    connect: ConnectFunction
  }> => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/') response.end('fine')
      if (request.url !== '/goaway') return
      ;(response as unknown as Http2ServerResponse).stream.session!.goaway(0)
    })
    const connector = buildConnector({ ca: authority, allowH2: wire.multiplexes })
    const sockets: SlowDuplex[] = []
    return {
      url: origin.url,
      sockets,
      connect: (options, callback) => {
        connector(options, (error, socket) => {
          if (error) return callback(error, null)
          const slow = new SlowDuplex(socket!)
          sockets.push(slow)
          callback(null, slow as unknown as Socket)
        })
      },
    }
  }

  for (const kind of KINDS) {
    for (const way of WAYS) {
      test(`${kind}, ${way}`, async (t) => {
        const { url, sockets, connect } = await slowly(t)
        const dispatcher = make(kind, wire, url, connect)
        const { body } = await dispatcher.request({ origin: url, path: '/', method: 'GET' })
        assert.equal(await body.text(), 'fine')
        const events: string[] = []
        dispatcher.on('disconnect', () => events.push('disconnect'))
        sockets[0]!.on('close', () => events.push('close'))
        const ended = end(dispatcher, way).then(() => events.push('ended'))
        await eventually(() => sockets[0]!.isClosing)
        await turns(20)
        assert.deepEqual(events, ['disconnect'])
        sockets[0]!.letClose()
        await ended
        assert.deepEqual(events, ['disconnect', 'close', 'ended'])
      })
    }
  }

  test('requests on it do not wait for that', async (t) => {
    const { url, sockets, connect } = await slowly(t)
    const client = make('Client', wire, url, connect)
    const response = deferred<Error>()
    client
      .request({ path: '/', method: 'GET' })
      .then(({ body }) => body.on('error', response.resolve).on('data', () => {}), response.resolve)
    await eventually(() => sockets.length === 1)
    const ended = client.destroy()
    assert.equal(((await response.promise) as NodeJS.ErrnoException).code, 'UND_ERR_DESTROYED')
    // HTTP/2 sends its GOAWAY first.
    await eventually(() => sockets[0]!.isClosing)
    sockets[0]!.letClose()
    await ended
  })

  if (wire.multiplexes) {
    test('one that takes no more requests', async (t) => {
      const { url, sockets, connect } = await slowly(t)
      const client = make('Client', wire, url, connect)
      const events: string[] = []
      client.request({ path: '/goaway', method: 'GET' }).catch(() => events.push('failed'))
      await once(client, 'disconnect')
      sockets[0]!.on('close', () => events.push('close'))
      const ended = client.destroy().then(() => events.push('ended'))
      await eventually(() => sockets[0]!.isClosing)
      await turns(20)
      sockets[0]!.letClose()
      await ended
      assert.deepEqual(events, ['failed', 'close', 'ended'])
    })
  }

  test('one that never closes: for a second', async (t) => {
    const { url, sockets, connect } = await slowly(t)
    const client = make('Client', wire, url, connect)
    await (await client.request({ path: '/', method: 'GET' })).body.dump()
    const clock = FakeClock.install(t)
    let ended = false
    const destroyed = client.destroy().then(() => {
      ended = true
    })
    await eventually(() => sockets[0]!.isClosing)
    await turns(3)
    await clock.advance(999)
    assert.equal(ended, false)
    await clock.advance(1)
    await destroyed
    assert.deepEqual([...clock.active], [])
  })

  for (const kind of KINDS) {
    for (const way of WAYS) {
      test(`one whose connection is over: ${kind}, ${way}`, async (t) => {
        const { url, sockets, connect } = await slowly(t)
        const dispatcher = make(kind, wire, url, connect)
        await (await dispatcher.request({ origin: url, path: '/', method: 'GET' })).body.dump()
        const disconnected = once(dispatcher, 'disconnect')
        sockets[0]!.push(null)
        await disconnected
        // An agent forgets an origin without connections.
        await turns(3)
        let ended = false
        const ending = end(dispatcher, way).then(() => {
          ended = true
        })
        await turns(20)
        assert.equal(ended, false)
        sockets[0]!.letClose()
        await ending
      })
    }
  }

  test('one that closed before: it is waited for all the same', async (t) => {
    const { url, sockets, connect } = await slowly(t)
    const pool = make('Pool', wire, url, connect)
    const disconnected = once(pool, 'disconnect')
    await (await pool.request({ path: '/', method: 'GET' })).body.dump()
    sockets[0]!.destroy()
    await eventually(() => sockets[0]!.isClosing)
    let ended = false
    const destroyed = pool.destroy().then(() => {
      ended = true
    })
    await turns(20)
    assert.equal(ended, false)
    sockets[0]!.letClose()
    await destroyed
    await disconnected
  })
})

for (const connected of [true, false]) {
  test(`a socket of the runtime's class, ${connected ? '' : 'not yet '}connected`, async (t) => {
    const origin = await startOrigin(
      t,
      { name: 'h1', secure: false, multiplexes: false },
      (_request, response) => response.end('fine'),
    )
    const socket = new SlowSocket()
    const client = new Client(origin.url, {
      connect: (_options, callback) => {
        if (connected) socket.connect(origin.port, '127.0.0.1', () => callback(null, socket))
        return socket
      },
    })
    const request = client.request({ path: '/', method: 'GET' })
    if (connected) await (await request).body.dump()
    else request.catch(() => {})
    let ended = false
    let closed = false
    socket.on('close', () => {
      closed = true
    })
    const destroyed = client.destroy().then(() => {
      ended = true
      assert.equal(closed, connected)
    })
    await eventually(() => socket.isClosing)
    await turns(20)
    assert.equal(ended, !connected)
    socket.letClose()
    await destroyed
  })
}

overEachWire('sockets of our own', (wire) => {
  for (const stage of ['idle', 'busy', 'connecting'] as const) {
    test(`${stage}: closed when destroy() is complete, or soon after`, async (t) => {
      const origin = await startOrigin(t, wire, (request, response) => {
        if (request.url === '/') response.end('fine')
      })
      const sockets: Socket[] = []
      const { connect } = Socket.prototype
      t.mock.method(Socket.prototype, 'connect', function (this: Socket, ...args: never) {
        sockets.push(this)
        return Reflect.apply(connect, this, args)
      })
      const client = origin.client()
      const request = client.request({ path: stage === 'busy' ? '/wait' : '/', method: 'GET' })
      if (stage === 'idle') await (await request).body.dump()
      else request.catch(() => {})
      await eventually(() => sockets.length > 0)
      if (stage === 'busy') await eventually(() => client.stats.running === 1)
      let closed = 0
      for (const socket of sockets) socket.on('close', () => closed++)
      await client.destroy()
      // Nothing was sent on one that was only being opened: it closes in the background.
      if (stage === 'connecting') await eventually(() => closed > 0)
      assert.equal(closed, sockets.length)
      assert.ok(closed > 0)
    })
  }
})
