// The tour: every way to reach an origin, every way to send a request, and how failures are reported.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { type Environment, type Output, TextLayout } from '../../src/cli/text-layout.ts'
import { type Client, errors, getSetCookies, Headers, interceptors, type Timings } from '../../src/index.ts'
import { Origin, TOGETHER, WAYS } from './origin.ts'
import { LEGEND, type Shown, Stage } from './stage.ts'

/** Milliseconds without an answer after which the tour aborts a request. */
const SOON = 50

/** Shows everything and returns the exit code: 0 if each step did what it announces. */
export async function tour(output: Output, env: Environment): Promise<0 | 1> {
  const stage = new Stage(output, TextLayout.for(output, env))
  stage.heading('ventuno, a tour', LEGEND)
  for (const way of WAYS) {
    const origin = await Origin.start(way)
    stage.heading(way.name, origin.url)
    const client = origin.client()
    // The client drains after each request. The tour shows that once, with several requests in flight.
    stage.watch(client, ['connect'])
    await exchanges(stage, client)
    await together(stage, origin)
    await composed(stage, origin, client)
    await upgrade(stage, client, way.isHttp2)
    await failures(stage, origin, client)
    client.removeAllListeners()
    await client.close()
    await origin.close()
  }
  const { failures: failed } = stage
  stage.summary(failed === 0 ? 'Every step did what it says.' : `${failed} of the steps failed.`)
  return failed === 0 ? 0 : 1
}

async function exchanges(stage: Stage, client: Client): Promise<void> {
  await stage.step('request', async () => {
    const { statusCode, body, timings } = await client.request({ path: '/hello', method: 'GET' })
    const text = await body.text()
    assert.equal(text, 'hello from /hello')
    return { sent: 'GET /hello', received: `${statusCode}  ${text}`, timings }
  })
  await stage.step('a body', async () => {
    const { statusCode, body, timings } = await client.request({
      path: '/echo',
      method: 'POST',
      body: 'what I have to say',
    })
    const text = await body.text()
    assert.equal(text, 'what I have to say')
    return { sent: 'POST /echo  what I have to say', received: `${statusCode}  ${text}`, timings }
  })
  await stage.step('stream', async () => {
    const pieces: Buffer[] = []
    const { timings } = await client.stream({ path: '/stream', method: 'GET' }, () => collect(pieces))
    assert.equal(Buffer.concat(pieces).toString(), 'hello from /stream')
    return { sent: 'GET /stream, into a Writable', received: Buffer.concat(pieces).toString(), timings }
  })
  await stage.step('pipeline', async () => {
    const duplex = client.pipeline({ path: '/echo', method: 'POST' }, ({ body }) => body)
    duplex.write('piece by ')
    duplex.end('piece')
    const text = String(await all(duplex))
    assert.equal(text, 'piece by piece')
    return { sent: 'POST /echo, through a Duplex', received: text }
  })
  await stage.step('trailers', async () => {
    const { statusCode, body, trailers, timings } = await client.request({ path: '/trailers', method: 'GET' })
    const text = await body.text()
    assert.deepEqual({ ...trailers }, { checksum: '42' })
    return {
      sent: 'GET /trailers',
      received: `${statusCode}  ${text}: checksum ${trailers['checksum']}`,
      timings,
    }
  })
  await stage.step('cookies', async () => {
    const login = await client.request({ path: '/login', method: 'GET' })
    await login.body.dump()
    const [cookie] = getSetCookies(new Headers({ 'set-cookie': String(login.headers['set-cookie']) }))
    assert.deepEqual(cookie, { name: 'session', value: '21', path: '/', httpOnly: true })
    const pair = `${cookie.name}=${cookie.value}`
    const { body, timings } = await client.request({
      path: '/whoami',
      method: 'GET',
      headers: { cookie: pair },
    })
    const text = await body.text()
    assert.equal(text, 'session 21')
    return { sent: `GET /whoami  cookie: ${pair}`, received: text, timings }
  })
}

/** The origin answers only when all have arrived, so they must be in flight at the same time. */
async function together(stage: Stage, origin: Origin): Promise<void> {
  const client = origin.client({ pipelining: TOGETHER })
  stage.watch(client, ['connect', 'drain'])
  await stage.step(origin.way.isHttp2 ? 'multiplexing' : 'pipelining', async () => {
    const options = { path: '/together', method: 'GET', blocking: false }
    const replies = await Promise.all(Array.from({ length: TOGETHER }, () => client.request(options)))
    const texts = await Promise.all(replies.map(({ body }) => body.text()))
    assert.deepEqual(texts, ['answer 1', 'answer 2', 'answer 3'])
    return {
      sent: `GET /together × ${TOGETHER}, one connection`,
      received: texts.join(', '),
      timings: replies[0]!.timings,
    }
  })
  client.removeAllListeners()
  await client.close()
}

/** A redirect to a page that fails once and is compressed: three requests the first time, none the second. */
async function composed(stage: Stage, origin: Origin, client: Client): Promise<void> {
  const { retry, cache, decompress, redirect } = interceptors
  await stage.step('interceptors', async () => {
    let requests = 0
    for (const path of ['/moved', '/packed']) origin.arrivals.on(path, () => requests++)
    const stack = client.compose(
      retry({ minTimeout: 1 }),
      cache(),
      decompress(),
      redirect({ maxRedirections: 1 }),
    )
    const first = await stack.request({ path: '/moved', method: 'GET' })
    const text = await first.body.text()
    assert.deepEqual([text, requests], ['hello from /packed', 3])
    const second = await stack.request({ path: '/moved', method: 'GET' })
    assert.deepEqual([await second.body.text(), requests], [text, 3])
    return {
      sent: 'GET /moved × 2, with retry, cache, decompress, redirect',
      received: `${first.statusCode}  ${text}: ${requests} requests, then none`,
      timings: first.timings,
    }
  })
}

async function upgrade(stage: Stage, client: Client, isHttp2: boolean): Promise<void> {
  await stage.step('upgrade', async () => {
    const protocol = isHttp2 ? 'websocket' : 'echo'
    const { socket, timings } = await client.upgrade({ path: '/upgrade', protocol })
    socket.write('no longer HTTP')
    const [answer] = await once(socket, 'data')
    assert.equal(String(answer), 'no longer HTTP')
    const closed = once(socket, 'close')
    socket.destroy()
    await closed
    return {
      sent: isHttp2 ? 'CONNECT /upgrade  :protocol websocket' : 'GET /upgrade  upgrade: echo',
      received: String(answer),
      timings,
    }
  })
}

async function failures(stage: Stage, origin: Origin, client: Client): Promise<void> {
  // HTTP/2 resets a stream, HTTP/1.1 has to close the connection.
  const lost = async (isLost: boolean): Promise<void> => {
    if (isLost) await once(client, 'disconnect')
  }
  await stage.step('abort', async () => {
    const abort = new AbortController()
    origin.arrivals.once('/never', () => abort.abort())
    const gone = lost(!origin.way.isHttp2)
    const error = await failure(client.request({ path: '/never', method: 'GET', signal: abort.signal }))
    await gone
    assert.equal(error.name, 'AbortError')
    return complaint('GET /never, aborted once it has arrived', error)
  })
  await stage.step('timeout', async () => {
    const gone = lost(!origin.way.isHttp2)
    const error = await failure(client.request({ path: '/never', method: 'GET', headersTimeout: SOON }))
    await gone
    assert.ok(error instanceof errors.HeadersTimeoutError)
    return complaint(`GET /never, headersTimeout ${SOON}`, error)
  })
  await stage.step('a loss', async () => {
    const gone = lost(true)
    const error = await failure(client.request({ path: '/die', method: 'GET' }))
    await gone
    assert.equal(error.retrySafety, 'idempotent-only')
    return complaint('GET /die', error)
  })
  await stage.step('and again', async () => {
    const { statusCode, body, timings } = await client.request({ path: '/again', method: 'GET' })
    const text = await body.text()
    assert.equal(text, 'hello from /again')
    return { sent: 'GET /again', received: `${statusCode}  ${text}`, timings }
  })
}

type RequestError = Error & { code?: unknown; retrySafety?: string; timings?: Timings }

async function failure(request: Promise<unknown>): Promise<RequestError> {
  const error = await request.then(
    () => null,
    (reason: RequestError) => reason,
  )
  assert.ok(error !== null, 'an answer came')
  return error
}

function complaint(sent: string, { name, code, message, retrySafety, timings }: RequestError): Shown {
  const retry = retrySafety === undefined ? '' : `, retry: ${retrySafety}`
  return {
    sent,
    received: `${typeof code === 'string' ? code : name}: ${message}${retry}`,
    timings: timings ?? null,
  }
}

function collect(pieces: Buffer[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      pieces.push(chunk)
      done()
    },
  })
}

async function all(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of source) pieces.push(piece)
  return Buffer.concat(pieces)
}
