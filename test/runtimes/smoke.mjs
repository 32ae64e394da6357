// One short use of everything the library has, from the package as it is published. It runs in a folder where the
// package is installed, with any runtime; the origins (`smoke-origin.mjs`) run in another process.
import assert from 'node:assert/strict'
import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline as pipeStreams } from 'node:stream/promises'
import ventuno, * as names from 'ventuno'

const {
  Agent,
  BalancedPool,
  Client,
  EnvHttpProxyAgent,
  EventSource,
  FormData,
  H2CClient,
  Headers,
  MockAgent,
  Pool,
  ProxyAgent,
  Request,
  Response,
  RetryAgent,
  RoundRobinPool,
  Socks5ProxyAgent,
  WebSocket,
  WebSocketStream,
  buildConnector,
  cacheStores,
  caches,
  errors,
  events,
  fetch,
  getCookies,
  getGlobalDispatcher,
  getSetCookies,
  interceptors,
  parseCookie,
  pipeline,
  request,
  setCookie,
  setGlobalDispatcher,
  stream,
  upgrade,
} = names

const { ports, socketPath, ca, identity } = JSON.parse(process.env.VENTUNO_ORIGINS)
const H1 = `http://localhost:${ports.http}`
const OTHER = `http://localhost:${ports.otherHttp}`
const H2 = `https://localhost:${ports.https}`
const MUTUAL = `https://localhost:${ports.mutualTls}`
const H2C = `http://localhost:${ports.h2c}`
const SOCKS = `socks5://user:sesame@localhost:${ports.socks}`
const GET = { path: '/', method: 'GET' }
const TRUST = { connect: { ca } }

/** Milliseconds. */
const PATIENCE = 10_000

const checks = []

/** Dispatchers that a check made with `use` are destroyed afterwards. */
let used = []
const use = (dispatcher) => {
  used.push(dispatcher)
  return dispatcher
}

function check(name, body) {
  checks.push({ name, body })
}

const read = async (response) => `${response.statusCode} ${await response.body.text()}`
const rejection = (promise) =>
  promise.then(
    () => assert.fail('it did not fail'),
    (error) => error,
  )

/** An interceptor that adds a header, and counts. */
function tagging() {
  const seen = []
  const interceptor = (dispatch) => (options, handler) => {
    seen.push(options.path)
    return dispatch({ ...options, headers: { ...toObject(options.headers), 'x-tag': 'yes' } }, handler)
  }
  return { seen, interceptor }
}

function toObject(headers) {
  if (!Array.isArray(headers))
    return Symbol.iterator in Object(headers) ? Object.fromEntries(headers) : headers
  const pairs = {}
  for (let i = 0; i < headers.length; i += 2) pairs[headers[i]] = headers[i + 1]
  return pairs
}

// The package

check('import by its own name', () => {
  assert.equal(typeof Client, 'function')
  assert.deepEqual(
    Object.keys(names)
      .filter((name) => name !== 'default' && name !== 'module.exports')
      .sort(),
    Object.keys(ventuno).sort(),
  )
})

check('require by its own name', async () => {
  const required = createRequire(import.meta.url)('ventuno')
  for (const name of Object.keys(ventuno)) assert.ok(name in required, name)
  const client = use(new required.Client(H1))
  assert.equal(await read(await client.request(GET)), '200 hello over HTTP/1.1')
})

check('import and require recognise each other', () => {
  const required = createRequire(import.meta.url)('ventuno')
  assert.ok(new required.errors.SocketError('x') instanceof errors.UndiciError)
  assert.ok(new errors.SocketError('x') instanceof required.errors.UndiciError)
})

check('its manifest', () => {
  assert.equal(createRequire(import.meta.url)('ventuno/package.json').name, 'ventuno')
})

check('import() in a function', async () => {
  assert.equal((await import('ventuno')).Client, Client)
})

// Clients

for (const [name, make] of [
  ['HTTP/1.1', () => new Client(H1)],
  ['HTTP/1.1 over TLS', () => new Client(H2, { ...TRUST, allowH2: false })],
  ['HTTP/2 over TLS', () => new Client(H2, TRUST)],
  ['h2c', () => new H2CClient(H2C)],
]) {
  const version = name.startsWith('HTTP/1.1') ? '1.1' : '2.0'

  check(`${name}: GET`, async () => {
    const client = use(make())
    const { statusCode, headers, body } = await client.request(GET)
    assert.deepEqual([statusCode, headers['content-type']], [200, 'text/plain'])
    assert.equal(await body.text(), `hello over HTTP/${version}`)
    await client.close()
  })

  check(`${name}: bodies of every kind`, async () => {
    const client = use(make())
    const send = async (body) => (await client.request({ path: '/echo', method: 'POST', body })).body.text()
    async function* parts() {
      yield 'par'
      yield 'ts'
    }
    assert.equal(await send('text'), 'text')
    assert.equal(await send(Buffer.from('bytes')), 'bytes')
    assert.equal(await send(new Uint8Array([65, 66])), 'AB')
    assert.equal(await send(new Blob(['blob'])), 'blob')
    assert.equal(await send(Readable.from([Buffer.from('str'), Buffer.from('eam')])), 'stream')
    assert.equal(await send(parts()), 'parts')
  })

  check(`${name}: 1 MB in both directions`, async () => {
    const client = use(make())
    const large = await client.request({ path: '/large', method: 'GET' })
    assert.equal((await large.body.arrayBuffer()).byteLength, 1_048_576)
    const body = Readable.from(Array.from({ length: 64 }, (_, i) => Buffer.alloc(16_384, i)))
    const echoed = await client.request({ path: '/echo', method: 'POST', body })
    const bytes = await echoed.body.bytes()
    assert.equal(bytes.length, 1_048_576)
    assert.ok(bytes.every((byte, i) => byte === i >> 14))
  })

  check(`${name}: many at a time`, async () => {
    const client = use(make())
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        client.request({ path: `/request?n=${i}`, method: 'GET' }).then((r) => r.body.json()),
      ),
    )
    assert.deepEqual(
      answers.map(({ path }) => path),
      Array.from({ length: 50 }, (_, i) => `/request?n=${i}`),
    )
  })

  check(`${name}: trailers and early hints`, async () => {
    const client = use(make())
    const { body, trailers } = await client.request({ path: '/trailers', method: 'GET' })
    assert.equal(await body.text(), 'a body')
    assert.equal(trailers.checksum, '42')
    const infos = []
    const hinted = await client.request({
      path: '/hints',
      method: 'GET',
      onInfo: (info) => infos.push(info.statusCode),
    })
    assert.equal(await hinted.body.text(), 'with hints')
    assert.deepEqual(infos, [103])
  })

  check(`${name}: abort`, async () => {
    const client = use(make())
    const abort = new AbortController()
    const waiting = rejection(client.request({ path: '/slow', method: 'GET', signal: abort.signal }))
    setTimeout(() => abort.abort(), 50)
    assert.equal((await waiting).name, 'AbortError')
    assert.match(await read(await client.request(GET)), /^200 hello/)
  })

  check(`${name}: headersTimeout and bodyTimeout`, async () => {
    const client = use(make())
    const head = await rejection(client.request({ path: '/slow', method: 'GET', headersTimeout: 100 }))
    assert.equal(head.code, 'UND_ERR_HEADERS_TIMEOUT')
    const { body } = await client.request({ path: '/stall', method: 'GET', bodyTimeout: 100 })
    assert.equal((await rejection(body.text())).code, 'UND_ERR_BODY_TIMEOUT')
  })

  check(`${name}: a connection that is lost`, async () => {
    const client = use(make())
    const error = await rejection(client.request({ path: '/die', method: 'POST', body: 'x' }))
    assert.ok(error instanceof errors.UndiciError, error)
    assert.equal(error.retrySafety, 'idempotent-only')
    assert.match(await read(await client.request(GET)), /^200 hello/)
  })
}

check('pipelining', async () => {
  const client = use(new Client(H1, { pipelining: 10 }))
  const words = await Promise.all(Array.from({ length: 30 }, () => client.request(GET).then(read)))
  assert.equal(new Set(words).size, 1)
})

check('a certificate that is not trusted is refused', async () => {
  const error = await rejection(use(new Client(H2)).request(GET))
  assert.match(error.code, /CERT|VERIFY|ISSUER/)
})

check('a certificate for another name is refused', async () => {
  const client = use(new Client(H2, { connect: { ca, servername: 'elsewhere.test' } }))
  assert.equal((await rejection(client.request(GET))).code, 'ERR_TLS_CERT_ALTNAME_INVALID')
})

check('a client certificate', async () => {
  const client = use(new Client(MUTUAL, { connect: { ca, ...identity } }))
  const { body } = await client.request({ path: '/who', method: 'GET' })
  assert.equal(typeof (await body.json()).client, 'string')
})

check('a Unix socket', async () => {
  const client = use(new Client('http://localhost', { socketPath }))
  assert.equal(await read(await client.request(GET)), '200 hello over HTTP/1.1')
})

check('a connector of the caller', async () => {
  const connector = buildConnector({ ca })
  let calls = 0
  const connect = (options, done) => {
    calls++
    connector(options, done)
  }
  const client = use(new Client(H2, { connect }))
  assert.equal(await read(await client.request(GET)), '200 hello over HTTP/2.0')
  assert.equal(calls, 1)
})

check('a port where no server listens', async () => {
  const error = await rejection(use(new Client('http://127.0.0.1:1')).request(GET))
  assert.equal(error.code, 'ECONNREFUSED')
})

check('events, close() and destroy()', async () => {
  const client = new Client(H1)
  const log = []
  client.on('connect', () => log.push('connect')).on('disconnect', () => log.push('disconnect'))
  const { body } = await client.request(GET)
  await body.text()
  await client.close()
  assert.deepEqual(log, ['connect', 'disconnect'])
  const other = new Client(H1)
  const waiting = rejection(other.request({ path: '/slow', method: 'GET' }))
  await other.destroy()
  assert.ok((await waiting) instanceof errors.ClientDestroyedError)
})

// Pools and agents

check('Pool', async () => {
  const pool = use(new Pool(H1, { connections: 5 }))
  const words = await Promise.all(Array.from({ length: 50 }, () => pool.request(GET).then(read)))
  assert.equal(words.length, 50)
  assert.equal(pool.stats.connected, 5)
})

check('Agent', async () => {
  const agent = use(new Agent(TRUST))
  for (const [origin, version] of [
    [H1, '1.1'],
    [OTHER, '1.1'],
    [H2, '2.0'],
  ]) {
    assert.equal(await read(await agent.request({ origin, ...GET })), `200 hello over HTTP/${version}`)
  }
})

check('BalancedPool and RoundRobinPool', async () => {
  const balanced = use(new BalancedPool([H1, OTHER]))
  const turns = use(new RoundRobinPool(H1, { connections: 2 }))
  for (let i = 0; i < 4; i++) {
    assert.match(await read(await balanced.request(GET)), /^200/)
    assert.match(await read(await turns.request(GET)), /^200/)
  }
})

check('the global dispatcher', async () => {
  const before = getGlobalDispatcher()
  const { seen, interceptor } = tagging()
  setGlobalDispatcher(use(new Agent(TRUST)).compose(interceptor))
  try {
    assert.equal(await read(await request(H2)), '200 hello over HTTP/2.0')
    assert.equal(await (await fetch(`${H2}/json`)).text(), '{"hello":"world"}')
  } finally {
    setGlobalDispatcher(before)
  }
  assert.deepEqual(seen, ['/', '/json'])
})

// The methods

check('request()', async () => {
  const { body } = await request(`${H1}/request`, { query: { a: 1 }, headers: { 'x-a': 'b' } })
  const { path, headers } = await body.json()
  assert.deepEqual([path, headers['x-a']], ['/request?a=1', 'b'])
})

check('stream()', async () => {
  const chunks = []
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(chunk)
      done()
    },
  })
  await stream(H1, { method: 'GET', opaque: sink }, ({ opaque }) => opaque)
  assert.equal(String(Buffer.concat(chunks)), 'hello over HTTP/1.1')
})

check('pipeline()', async () => {
  const chunks = []
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(chunk)
      done()
    },
  })
  const through = pipeline(`${H1}/echo`, { method: 'POST' }, ({ body }) => body)
  await pipeStreams(Readable.from([Buffer.from('through '), Buffer.from('it')]), through, sink)
  assert.equal(String(Buffer.concat(chunks)), 'through it')
})

check('upgrade()', async () => {
  const { socket } = await upgrade(H1, { protocol: 'echo' })
  socket.write('ping')
  const [chunk] = await once(socket, 'data')
  assert.equal(String(chunk), 'ping')
  socket.destroy()
})

check('connect()', async () => {
  const client = use(new Client(H1))
  const { statusCode, socket } = await client.connect({ path: `localhost:${ports.otherHttp}` })
  assert.equal(statusCode, 200)
  socket.end(`GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  assert.match(await text(socket), /hello over HTTP\/1\.1$/)
})

check('dispatch() with a handler', async () => {
  const client = use(new Client(H1))
  const story = await new Promise((resolve, reject) => {
    const log = []
    client.dispatch(GET, {
      onRequestStart: () => log.push('start'),
      onResponseStart: (_controller, status) => log.push(status),
      onResponseData: (_controller, chunk) => log.push(String(chunk)),
      onResponseEnd: () => resolve(log),
      onResponseError: (_controller, error) => reject(error),
    })
  })
  assert.deepEqual(story, ['start', 200, 'hello over HTTP/1.1'])
})

check('a body that is iterated, streamed, dumped, or left', async () => {
  const client = use(new Client(H1))
  const get = async (path) => (await client.request({ path, method: 'GET' })).body
  let length = 0
  for await (const chunk of await get('/large')) length += chunk.length
  assert.equal(length, 1_048_576)
  assert.equal((await text(await get('/large'))).length, 1_048_576)
  await (await get('/json')).dump()
  const left = await get('/large')
  left.on('error', () => {})
  left.destroy()
  await new Promise((resolve) => left.once('close', resolve))
  assert.deepEqual(await (await get('/json')).json(), { hello: 'world' })
})

// fetch

check('fetch: JSON', async () => {
  const response = await fetch(`${H1}/json`)
  assert.ok(response instanceof Response)
  assert.deepEqual(await response.json(), { hello: 'world' })
})

check('fetch through a dispatcher with an interceptor', async () => {
  const { seen, interceptor } = tagging()
  const dispatcher = use(new Agent()).compose(interceptor)
  const { headers } = await (await fetch(`${H1}/request`, { dispatcher })).json()
  assert.equal(headers['x-tag'], 'yes')
  assert.deepEqual(seen, ['/request'])
})

check('fetch with `ca`, over HTTP/2', async () => {
  const dispatcher = use(new Agent(TRUST))
  assert.equal(await (await fetch(H2, { dispatcher })).text(), 'hello over HTTP/2.0')
  const error = await rejection(fetch(H2, { dispatcher: use(new Agent()) }))
  assert.ok(error instanceof TypeError)
  assert.match(error.cause.code, /CERT|VERIFY|ISSUER/)
})

check('fetch: Request, Headers and bodies', async () => {
  const dispatcher = use(new Agent(TRUST))
  const post = new Request(`${H2}/echo`, {
    method: 'POST',
    body: 'sent',
    headers: new Headers({ 'x-a': 'b' }),
  })
  assert.equal(await (await fetch(post, { dispatcher })).text(), 'sent')
  const body = new ReadableStream({
    start(controller) {
      for (const word of ['a ', 'stream']) controller.enqueue(new TextEncoder().encode(word))
      controller.close()
    },
  })
  const streamed = await fetch(`${H2}/echo`, { method: 'POST', body, duplex: 'half', dispatcher })
  assert.equal(await streamed.text(), 'a stream')
})

check('fetch: FormData', async () => {
  const form = new FormData()
  form.set('field', 'value')
  form.set('file', new Blob(['content'], { type: 'text/plain' }), 'file.txt')
  const echoed = await (await fetch(`${H1}/echo`, { method: 'POST', body: form })).formData()
  assert.equal(echoed.get('field'), 'value')
  assert.equal(await echoed.get('file').text(), 'content')
})

check('fetch: compression, redirects, clones', async () => {
  assert.equal(await (await fetch(`${H1}/gzip`)).text(), 'hello '.repeat(100))
  const redirected = await fetch(`${H1}/redirect`)
  assert.ok(redirected.redirected)
  assert.equal(redirected.url, `${H1}/json`)
  const copy = redirected.clone()
  assert.equal(await redirected.text(), await copy.text())
})

check('fetch: the stream of a body', async () => {
  let length = 0
  for await (const chunk of (await fetch(`${H1}/large`)).body) length += chunk.length
  assert.equal(length, 1_048_576)
})

check('fetch: abort', async () => {
  const error = await rejection(fetch(`${H1}/slow`, { signal: AbortSignal.timeout(50) }))
  assert.equal(error.name, 'TimeoutError')
})

check('install() replaces the global fetch', async () => {
  const kept = Object.fromEntries(
    [
      'fetch',
      'Headers',
      'Request',
      'Response',
      'FormData',
      'WebSocket',
      'CloseEvent',
      'ErrorEvent',
      'MessageEvent',
      'EventSource',
    ].map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]),
  )
  const { seen, interceptor } = tagging()
  ventuno.install()
  try {
    const dispatcher = use(new Agent()).compose(interceptor)
    const { headers } = await (await globalThis.fetch(`${H1}/request`, { dispatcher })).json()
    assert.equal(headers['x-tag'], 'yes')
    assert.equal(seen.length, 1)
  } finally {
    for (const [name, own] of Object.entries(kept)) {
      if (own === undefined) delete globalThis[name]
      else Object.defineProperty(globalThis, name, own)
    }
  }
})

check('caches', async () => {
  const cache = await caches.open('smoke')
  await cache.add(`${H1}/json`)
  assert.deepEqual(await (await cache.match(`${H1}/json`)).json(), { hello: 'world' })
  await caches.delete('smoke')
})

// WebSocket, EventSource

for (const [name, url] of [
  ['', H1],
  [' over TLS', H2],
]) {
  check(`WebSocket${name}`, async () => {
    const dispatcher = use(new Agent({ ...TRUST, allowH2: false }))
    const socket = new WebSocket(url.replace('http', 'ws'), { dispatcher })
    socket.binaryType = 'arraybuffer'
    await once(socket, 'open')
    socket.send('text')
    assert.equal((await once(socket, 'message'))[0].data, 'text')
    socket.send(new Uint8Array([1, 2, 3]))
    assert.deepEqual(new Uint8Array((await once(socket, 'message'))[0].data), new Uint8Array([1, 2, 3]))
    const large = 'x'.repeat(100_000)
    socket.send(large)
    assert.equal((await once(socket, 'message'))[0].data, large)
    socket.close(1000, 'done')
    const [closed] = await once(socket, 'close')
    assert.deepEqual([closed.code, closed.wasClean], [1000, true])
  })
}

check('WebSocketStream', async () => {
  const socket = new WebSocketStream(H1.replace('http', 'ws'))
  const { readable, writable } = await socket.opened
  const writer = writable.getWriter()
  await writer.write('streamed')
  const reader = readable.getReader()
  assert.equal((await reader.read()).value, 'streamed')
  await writer.close()
  assert.equal((await socket.closed).closeCode, 1005)
})

check('EventSource', async () => {
  const source = new EventSource(`${H1}/events`, { node: { reconnectionTime: 10_000 } })
  const ticks = []
  await new Promise((resolve) => {
    source.addEventListener('tick', ({ data }) => {
      ticks.push(data)
      if (ticks.length === 3) resolve()
    })
  })
  source.close()
  assert.deepEqual(ticks, ['1 of 3', '2 of 3', '3 of 3'])
})

check('events()', async () => {
  const data = []
  for await (const event of events(`${H1}/events`)) {
    data.push(event.data)
    if (data.length === 3) break
  }
  assert.deepEqual(data, ['1 of 3', '2 of 3', '3 of 3'])
})

// Cookies

check('cookies', async () => {
  const { headers } = await fetch(`${H1}/cookies`)
  assert.deepEqual(
    getSetCookies(headers).map(({ name, value }) => `${name}=${value}`),
    ['session=abc', 'theme=dark'],
  )
  const own = new Headers({ cookie: 'a=1; b=2' })
  assert.deepEqual({ ...getCookies(own) }, { a: '1', b: '2' })
  setCookie(own, { name: 'c', value: '3', secure: true })
  assert.equal(own.getSetCookie()[0], 'c=3; Secure')
  assert.equal(parseCookie('d=4').value, '4')
})

// Mocks

check('MockAgent', async () => {
  const agent = use(new MockAgent())
  agent.disableNetConnect()
  const pool = agent.get('http://mocked.test')
  pool.intercept({ path: '/a', method: 'GET' }).reply(200, { mocked: true })
  pool.intercept({ path: '/b', method: 'POST', body: 'x' }).reply(201, ({ body }) => `got ${body}`)
  assert.deepEqual(await (await fetch('http://mocked.test/a', { dispatcher: agent })).json(), {
    mocked: true,
  })
  const answer = await request('http://mocked.test/b', { method: 'POST', body: 'x', dispatcher: agent })
  assert.equal(await read(answer), '201 got x')
  agent.assertNoPendingInterceptors()
  const error = await rejection(request('http://mocked.test/c', { dispatcher: agent }))
  assert.equal(error.code, 'UND_MOCK_ERR_MOCK_NOT_MATCHED')
})

// Interceptors

check('interceptors.retry and RetryAgent', async () => {
  const client = use(new Client(H1)).compose(interceptors.retry({ minTimeout: 1 }))
  assert.equal(
    await read(await client.request({ path: `/flaky/${Math.random()}`, method: 'GET' })),
    '200 here now',
  )
  const agent = use(new RetryAgent(new Agent(), { minTimeout: 1 }))
  const path = `/flaky/${Math.random()}`
  assert.equal(await read(await agent.request({ origin: H1, path, method: 'GET' })), '200 here now')
})

check('interceptors.redirect', async () => {
  const client = use(new Client(H1)).compose(interceptors.redirect({ maxRedirections: 2 }))
  assert.equal(
    await read(await client.request({ path: '/redirect', method: 'GET' })),
    '200 {"hello":"world"}',
  )
})

check('interceptors.cache in memory', async () => {
  const client = use(new Client(H1)).compose(
    interceptors.cache({ store: new cacheStores.MemoryCacheStore() }),
  )
  const path = `/cached/${Math.random()}`
  for (let i = 0; i < 2; i++)
    assert.equal(await read(await client.request({ path, method: 'GET' })), '200 response 1')
})

check('interceptors.decompress', async () => {
  const client = use(new Client(H1)).compose(interceptors.decompress())
  assert.equal(
    await read(await client.request({ path: '/gzip', method: 'GET' })),
    `200 ${'hello '.repeat(100)}`,
  )
})

check('interceptors.dns', async () => {
  let lookups = 0
  const lookup = (_origin, _options, done) => {
    lookups++
    done(null, [{ address: '127.0.0.1', family: 4, ttl: 1000 }])
  }
  const agent = use(new Agent()).compose(interceptors.dns({ lookup }))
  for (let i = 0; i < 2; i++) {
    const answer = await agent.request({ origin: `http://somewhere.test:${ports.http}`, ...GET })
    assert.match(await read(answer), /^200/)
  }
  assert.equal(lookups, 1)
})

check('interceptors.responseError', async () => {
  const client = use(new Client(H1)).compose(interceptors.responseError())
  assert.equal((await rejection(client.request({ path: '/status/503', method: 'GET' }))).statusCode, 503)
})

check('interceptors.dump and deduplicate', async () => {
  const dumping = use(new Client(H1)).compose(interceptors.dump({ maxSize: 2_000_000 }))
  assert.equal(await read(await dumping.request({ path: '/large', method: 'GET' })), '200 ')
  const once = use(new Client(H1)).compose(interceptors.deduplicate())
  const answers = await Promise.all([once.request(GET), once.request(GET)])
  for (const answer of answers) assert.match(await read(answer), /^200 hello/)
})

// Proxies

check('ProxyAgent: a tunnel', async () => {
  const agent = use(new ProxyAgent({ uri: OTHER, proxyTunnel: true }))
  assert.equal(await read(await request(H1, { dispatcher: agent })), '200 hello over HTTP/1.1')
})

check('ProxyAgent: TLS through a tunnel', async () => {
  const agent = use(new ProxyAgent({ uri: H1, requestTls: { ca } }))
  const response = await fetch(H2, { dispatcher: agent })
  assert.match(await response.text(), /^hello over HTTP/)
})

check('EnvHttpProxyAgent', async () => {
  const agent = use(new EnvHttpProxyAgent({ httpsProxy: OTHER, noProxy: '', requestTls: { ca } }))
  assert.match(await read(await request(H2, { dispatcher: agent })), /^200 hello/)
})

check('Socks5ProxyAgent', async () => {
  const agent = use(new Socks5ProxyAgent(SOCKS, { requestTls: { ca } }))
  assert.match(await read(await request(H1, { dispatcher: agent })), /^200 hello/)
  assert.match(await read(await request(H2, { dispatcher: agent })), /^200 hello/)
})

// The rest

check('diagnostics channels', async () => {
  const seen = []
  const listener = ({ request: one }) => seen.push(one.path)
  diagnostics.subscribe('undici:request:create', listener)
  await read(await use(new Client(H1)).request({ path: '/json', method: 'GET' }))
  diagnostics.unsubscribe('undici:request:create', listener)
  assert.deepEqual(seen, ['/json'])
})

check('options that are wrong', async () => {
  assert.throws(() => new Client('ftp://localhost'), errors.InvalidArgumentError)
  const client = use(new Client(H1))
  const error = await rejection(client.request({ path: '/', method: 'GET', headers: { 'a b': 'c' } }))
  assert.equal(error.code, 'UND_ERR_INVALID_ARG')
})

check('timings of a response', async () => {
  const client = use(new Client(H1))
  const { body, timings } = await client.request(GET)
  await body.dump()
  assert.equal(typeof timings, 'object')
})

process.on('uncaughtException', (error) => console.log('uncaught', error))
process.on('unhandledRejection', (error) => console.log('unhandled', error))

let failed = 0
for (const { name, body } of checks) {
  let timer
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not finished after ${PATIENCE} ms`)), PATIENCE)
  })
  try {
    await Promise.race([Promise.resolve().then(body), late])
    console.log(`ok ${name}`)
  } catch (error) {
    failed++
    console.log(`not ok ${name}`)
    console.log(error)
  }
  clearTimeout(timer)
  await Promise.all(used.map((dispatcher) => dispatcher.destroy()))
  used = []
}
console.log(`# ${checks.length - failed} of ${checks.length} passed`)
process.exit(failed === 0 ? 0 : 1)
