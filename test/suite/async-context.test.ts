/**
 * Every function of a caller runs in the AsyncLocalStorage context of its own call, although the calls share a connection
 * that yet another one has opened.
 */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type Duplex, Readable, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import {
  Client,
  type DispatchController,
  type Dispatcher,
  type DispatchHandler,
  EventSource,
  fetch,
  H2CClient,
  interceptors,
  type LegacyDispatchHandler,
  MockAgent,
  Pool,
  WebSocket,
} from '../../src/index.ts'
import { CLOSE, closePayload, serverFrame, TEXT } from '../protocol/websocket/server-frames.ts'
import { overEachWire, startOrigin, WIRES, type Wire } from '../support/wire.ts'

/** RFC 6455 §1.3. */
const SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

const storage = new AsyncLocalStorage<string>()

/** Notes in which context a callback runs. */
type Note = (kind: string) => void

interface Stage {
  readonly client: Dispatcher
  readonly url: string
  readonly wire: Wire
}

/** One call: resolves when all its callbacks have run. */
type Call = (stage: Stage, note: Note) => Promise<unknown>

/** Sends a 103, then the body in pieces, each in its own turn: those of several responses mix. */
async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  request.resume()
  await once(request, 'end')
  if (request.url === '/reset') {
    response.writeHead(200)
    response.write('part')
    setImmediate(() => response.destroy())
    return
  }
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: one\n\n')
    return
  }
  if (request.url === '/busy' && request.headers['x-again'] === undefined) {
    response.writeHead(503)
    response.end()
    return
  }
  if (request.url === '/moved') {
    response.writeHead(302, { location: '/' })
    response.end()
    return
  }
  response.writeEarlyHints({ link: '</style.css>; rel=preload' })
  for (const piece of ['one', 'two', 'three']) {
    await new Promise(setImmediate)
    response.write(piece)
  }
  response.end()
}

async function* pieces(note: Note): AsyncGenerator<string> {
  for (const piece of ['a', 'b', 'c']) {
    note('a generator as body')
    yield piece.repeat(40_000)
  }
  note('the end of a generator')
}

function source(note: Note): Readable {
  let left = 3
  return new Readable({
    read() {
      note('read() of a stream as body')
      this.push(left-- > 0 ? 'x'.repeat(40_000) : null)
    },
    destroy(error, done) {
      note('destroy() of a stream as body')
      done(error)
    },
  })
}

class NotingHandler implements DispatchHandler {
  readonly #note: Note
  readonly done: Promise<void>
  #settle!: () => void

  constructor(note: Note) {
    this.#note = note
    this.done = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  onRequestQueued(): void {
    this.#note('onRequestQueued')
  }
  onRequestStart(): void {
    this.#note('onRequestStart')
  }
  onBodySent(): void {
    this.#note('onBodySent')
  }
  onRequestSent(): void {
    this.#note('onRequestSent')
  }
  onResponseStarted(): void {
    this.#note('onResponseStarted')
  }
  onResponseStart(controller: DispatchController): void {
    this.#note('onResponseStart')
    controller.pause()
    setImmediate(() => controller.resume())
  }
  onResponseData(): void {
    this.#note('onResponseData')
  }
  onResponseEnd(): void {
    this.#note('onResponseEnd')
    this.#settle()
  }
  onResponseError(): void {
    this.#note('onResponseError')
    this.#settle()
  }
}

function legacyHandler(note: Note, settle: () => void): LegacyDispatchHandler {
  return {
    onConnect: () => note('onConnect'),
    onBodySent: () => note('onBodySent'),
    onRequestSent: () => note('onRequestSent'),
    onResponseStarted: () => note('onResponseStarted'),
    onHeaders(_status, _headers, resume) {
      note('onHeaders')
      setImmediate(resume)
      return false
    },
    onData: () => note('onData'),
    onComplete() {
      note('onComplete')
      settle()
    },
    onError() {
      note('onError')
      settle()
    },
  }
}

/** Listens in no context: which one a listener was added in must not matter. */
function listen(emitter: NodeJS.EventEmitter, names: readonly string[], note: Note): Promise<unknown> {
  for (const name of names) emitter.on(name, () => note(`'${name}' of a body`))
  return new Promise((resolve) => emitter.once('close', resolve))
}

const GET = { path: '/', method: 'GET' } as const

const CALLS: Record<string, Call> = {
  async 'request() by promise'({ client }, note) {
    const { body } = await client.request({ ...GET, onInfo: () => note('onInfo') })
    note('the promise')
    const closed = listen(body, ['data', 'end', 'close', 'pause', 'resume'], note)
    await closed
  },
  async 'readable events'({ client }, note) {
    const { body } = await client.request(GET)
    body.on('readable', () => {
      note("'readable' of a body")
      while (body.read() !== null);
    })
    await listen(body, ['end', 'close'], note)
  },
  async 'for await'({ client }, note) {
    const { body } = await client.request(GET)
    for await (const _ of body) note('for await')
  },
  async 'text()'({ client }, note) {
    const { body } = await client.request(GET)
    await body.text()
    note('text()')
  },
  async 'request() by callback'({ client }, note) {
    await new Promise<void>((resolve, reject) => {
      client.request({ ...GET, method: 'POST', body: source(note) }, (error, data) => {
        if (error) return reject(error)
        note('the callback')
        listen(data.body, ['data', 'end', 'close'], note).then(() => resolve())
      })
    })
  },
  async 'a body from a generator'({ client }, note) {
    const { body } = await client.request({
      path: '/',
      method: 'POST',
      body: pieces(note),
      trailers: () => {
        note('trailers')
        return { 'x-a': '1' }
      },
    })
    await body.text()
  },
  async 'a response that is reset'({ client }, note) {
    const { body } = await client.request({ path: '/reset', method: 'POST', reset: true })
    await listen(body, ['error', 'close'], note)
  },
  async 'an aborted body'({ client }, note) {
    const controller = new AbortController()
    const { body } = await client.request({ ...GET, signal: controller.signal })
    const closed = listen(body, ['error', 'close'], note)
    storage.run('the one who aborts', () => controller.abort())
    await closed
  },
  async 'stream()'({ client }, note) {
    await client.stream({ ...GET, onInfo: () => note('onInfo') }, () => {
      note('factory')
      return new Writable({
        write(_chunk, _encoding, done) {
          note('write() of a destination')
          done()
        },
        final(done) {
          note('final() of a destination')
          done()
        },
        destroy(error, done) {
          note('destroy() of a destination')
          done(error)
        },
      })
    })
    note('the promise')
  },
  async 'pipeline()'({ client }, note) {
    const duplex = client.pipeline({ ...GET, method: 'POST', onInfo: () => note('onInfo') }, ({ body }) => {
      note('handler of pipeline()')
      body.on('data', () => note("'data' of the body in pipeline()"))
      body.on('end', () => note("'end' of the body in pipeline()"))
      return body
    })
    const closed = listen(duplex, ['data', 'end', 'finish', 'close'], note)
    duplex.write('x'.repeat(100_000), () => note('write callback of pipeline()'))
    duplex.end('y')
    await closed
  },
  async 'dispatch()'({ client, url }, note) {
    const handler = new NotingHandler(note)
    client.dispatch({ ...GET, origin: url, method: 'POST', body: source(note) }, handler)
    await handler.done
  },
  async 'dispatch(), older generation'({ client, url }, note) {
    await new Promise<void>((resolve) => {
      client.dispatch({ ...GET, origin: url, method: 'POST', body: 'x' }, legacyHandler(note, resolve))
    })
  },
  async 'dispatch() of what fails'({ client, url }, note) {
    const handler = new NotingHandler(note)
    client.dispatch({ path: '/reset', origin: url, method: 'GET', reset: true }, handler)
    await handler.done
  },
  async 'fetch()'({ client, url }, note) {
    const response = await fetch(`${url}/`, { dispatcher: client })
    note('the promise')
    for await (const _ of response.body!) note('for await')
  },
  async 'fetch() with a stream'({ client, url }, note) {
    let left = 3
    const body = new ReadableStream({
      pull(controller) {
        note('pull() of a stream as body')
        if (left-- > 0) controller.enqueue(new Uint8Array(40_000))
        else controller.close()
      },
    })
    const init = { method: 'POST', body, duplex: 'half' as const, dispatcher: client }
    const response = await fetch(`${url}/`, init)
    await response.text()
  },
  async EventSource({ client, url }, note) {
    const events = new EventSource(`${url}/events`, { dispatcher: client } as object)
    events.onopen = () => note("'open' of EventSource")
    await new Promise<void>((resolve) => {
      events.onmessage = () => {
        note("'message' of EventSource")
        events.close()
        resolve()
      }
    })
  },
  async retry({ client, url }, note) {
    const retrying = client.compose(
      interceptors.retry({
        retry(error, { state }, done) {
          note('the retry function')
          done(state.counter > 2 ? error : null)
        },
      }),
    )
    const handler = new NotingHandler(note)
    retrying.dispatch({ path: '/busy', origin: url, method: 'GET' }, handler)
    await handler.done
  },
  async redirect({ client, url }, note) {
    const following = client.compose(interceptors.redirect({ maxRedirections: 2 }))
    const handler = new NotingHandler(note)
    following.dispatch({ path: '/moved', origin: url, method: 'GET' }, handler)
    await handler.done
  },
}

/** Composed once for all calls: what their requests share is what could mix them up. */
const SHARED: Record<string, () => Parameters<Dispatcher['compose']>[0]> = {
  cache: () => interceptors.cache(),
  'cache with collapse': () => interceptors.cache({ collapse: true } as object),
  deduplicate: () => interceptors.deduplicate(),
  throttle: () => interceptors.throttle({ concurrency: 1 }),
  hedge: () => interceptors.hedge({ delay: 1 }),
  decompress: () => interceptors.decompress(),
  dump: () => interceptors.dump(),
  dns: () =>
    interceptors.dns({
      lookup(_origin: unknown, _options: unknown, callback: (error: null, records: object[]) => void) {
        setImmediate(() => callback(null, [{ address: '127.0.0.1', ttl: 60_000, family: 4 }]))
      },
    } as object),
}

/** Runs a call several times at once on one connection, each in a context of its own, and one in none. */
async function check(stage: Stage, call: Call): Promise<void> {
  const seen = new Map<string, Set<string>>()
  const runs = ['first', 'second', undefined, 'third'].map((own) => {
    const note: Note = (kind) => {
      const now = storage.getStore()
      const wrong = seen.get(kind) ?? new Set()
      if (now !== own) wrong.add(`${now} instead of ${own}`)
      seen.set(kind, wrong)
    }
    return own === undefined
      ? storage.exit(() => call(stage, note))
      : storage.run(own, () => call(stage, note))
  })
  await Promise.all(runs)
  assert.ok(seen.size > 0)
  const wrong = [...seen].filter(([, contexts]) => contexts.size > 0)
  assert.deepEqual(
    wrong.map(([kind, contexts]) => `${kind}: ${[...contexts].join(', ')}`),
    [],
  )
}

async function open(t: TestContext, wire: Wire): Promise<Stage> {
  const origin = await startOrigin(t, wire, (request, response) => void answer(request, response))
  const client = origin.client({ pipelining: 1 })
  // The connection is made in the context of somebody else.
  await storage.run('the one who connects', async () => {
    const { body } = await client.request(GET)
    await body.dump()
  })
  return { client, url: origin.url, wire }
}

overEachWire('the context of callbacks', (wire) => {
  for (const [name, call] of Object.entries(CALLS)) {
    test(name, async (t) => check(await open(t, wire), call))
  }

  for (const [name, make] of Object.entries(SHARED)) {
    test(`handlers behind ${name}`, async (t) => {
      const stage = await open(t, wire)
      const client = stage.client.compose(make())
      await check({ ...stage, client }, async (_stage, note) => {
        const handler = new NotingHandler(note)
        client.dispatch({ ...GET, origin: stage.url }, handler)
        await handler.done
      })
    })
  }
})

/** Gives what comes back, and a message first: both are WebSocket frames when the client speaks that. */
function converse(socket: Duplex): void {
  socket.on('error', () => {})
  socket.write(serverFrame(TEXT, 'hello'))
  socket.once('data', () => socket.end(serverFrame(CLOSE, closePayload(1000, 'bye'))))
}

async function openTunnels(t: TestContext, protocol: 'h1' | 'h2c'): Promise<Stage & { client: Client }> {
  const server =
    protocol === 'h1'
      ? http.createServer((_request, response) => response.end())
      : http2.createServer({ settings: { enableConnectProtocol: true } })
  server.on('upgrade', (request: http.IncomingMessage, socket: Duplex) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}${SUFFIX}`)
      .digest('base64')
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n')
    socket.write(`sec-websocket-accept: ${accept}\r\n\r\n`)
    converse(socket)
  })
  server.on('connect', (_request: unknown, socket: Duplex) => {
    if (protocol === 'h2c') return
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    converse(socket)
  })
  server.on('stream', (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    stream.respond({ ':status': 200 })
    if (headers[':method'] === 'CONNECT') converse(stream)
    else stream.end()
  })
  const sockets: Duplex[] = []
  server.on('connection', (socket: Duplex) => sockets.push(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  const client = protocol === 'h1' ? new Client(url) : new H2CClient(url)
  t.after(async () => {
    await client.destroy()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await storage.run('the one who connects', async () => {
    const { body } = await client.request(GET)
    await body.dump()
  })
  return { client, url, wire: WIRES.find(({ name }) => name === protocol)! }
}

for (const protocol of ['h1', 'h2c'] as const) {
  test(`the context of the events of a WebSocket over ${protocol}`, async (t) => {
    await check(await openTunnels(t, protocol), async ({ client, url }, note) => {
      const socket = new WebSocket(url.replace('http', 'ws'), { dispatcher: client })
      socket.onopen = () => note("'open' of WebSocket")
      socket.onmessage = () => {
        note("'message' of WebSocket")
        socket.send('x')
      }
      await new Promise<void>((resolve) => {
        socket.onclose = () => {
          note("'close' of WebSocket")
          resolve()
        }
      })
    })
  })

  test(`the context of the callbacks of connect() over ${protocol}`, async (t) => {
    await check(await openTunnels(t, protocol), async ({ client }, note) => {
      await new Promise<void>((resolve, reject) => {
        client.connect({ path: 'example.test:80' }, (error, data) => {
          if (error) return reject(error)
          note('the callback')
          const { socket } = data
          if (protocol === 'h2c') listen(socket, ['data', 'end', 'close'], note)
          socket.on('close', () => resolve())
          socket.resume()
          socket.end('x')
        })
      })
    })
  })
}

test('the context of the callback of upgrade()', async (t) => {
  await check(await openTunnels(t, 'h1'), async ({ client }, note) => {
    await new Promise<void>((resolve, reject) => {
      client.upgrade({ path: '/' }, (error, data) => {
        if (error) return reject(error)
        note('the callback')
        data.socket.destroy()
        resolve()
      })
    })
  })
})

test('the context of callbacks behind a pool with a factory', async (t) => {
  const wire = WIRES[0]!
  const origin = await startOrigin(t, wire, (request, response) => void answer(request, response))
  const pool = new Pool(origin.url, { connections: 1, factory: (url) => new Client(url) })
  t.after(() => pool.destroy())
  await check({ client: pool, url: origin.url, wire }, async (_stage, note) => {
    const handler = new NotingHandler(note)
    pool.dispatch({ ...GET, method: 'POST', body: source(note) }, handler)
    await handler.done
  })
})

test('the context of the failure of a request that waits', async (t) => {
  const wire = WIRES[0]!
  const origin = await startOrigin(t, wire, () => {})
  const client = origin.client({ pipelining: 1 })
  const handlers: Promise<void>[] = []
  await check({ client, url: origin.url, wire }, async (_stage, note) => {
    const handler = new NotingHandler(note)
    client.dispatch(GET, handler)
    handlers.push(handler.done)
    if (handlers.length === 4) storage.run('the one who destroys', () => void client.destroy())
    await handler.done
  })
})

test('the context of callbacks of a mock', async () => {
  const agent = new MockAgent()
  agent.disableNetConnect()
  agent.get('http://mock.test').intercept({ path: '/' }).reply(200, 'x').delay(1).persist()
  await check({ client: agent, url: 'http://mock.test', wire: WIRES[0]! }, async (_, note) => {
    const handler = new NotingHandler(note)
    agent.dispatch({ ...GET, origin: 'http://mock.test' }, handler)
    await handler.done
  })
  await agent.close()
})
