/** Our cache behind those of others: nginx with `proxy_cache`, Varnish and Squid between it and the origin. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import {
  type CacheOptions,
  Client,
  type Dispatcher,
  H2CClient,
  type Interceptor,
  interceptors,
} from '../../src/index.ts'
import type { HttpCache } from './http-cache.ts'
import { describeProgram } from './running-server.ts'
import { nginxCache } from './servers/nginx-cache.ts'
import { squidCache } from './servers/squid-cache.ts'
import { varnish } from './servers/varnish.ts'
import { Stage } from './stage.ts'
import { until } from './until.ts'

type Fields = Record<string, string>

/** The origin: each path has its fields and counts its requests; a changed version has another body and another tag. */
class Origin {
  readonly server: http.Server
  readonly fields = new Map<string, Fields>()
  readonly versions = new Map<string, number>()
  readonly asked = new Map<string, http.IncomingHttpHeaders[]>()

  constructor() {
    this.server = http.createServer({ keepAliveTimeout: 0 }, (request, response) =>
      this.#answer(request, response),
    )
  }

  async start(): Promise<number> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    return (this.server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    if (!this.server.listening) return
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  count(path: string): number {
    return this.asked.get(path)?.length ?? 0
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    const path = request.url ?? ''
    const asked = this.asked.get(path) ?? []
    asked.push(request.headers)
    this.asked.set(path, asked)
    const version = this.versions.get(path) ?? 1
    const etag = `"${version}"`
    const fields = { etag, 'content-type': 'text/plain', ...this.fields.get(path) }
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, fields).end()
      return
    }
    const language = request.headers['accept-language'] ?? 'none'
    response.writeHead(200, fields).end(`${path} ${version} ${language}`)
  }
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
}

async function get(dispatcher: Dispatcher, path: string, headers: Fields = {}): Promise<Answer> {
  const { statusCode, headers: received, body } = await dispatcher.request({ path, method: 'GET', headers })
  return { status: statusCode, headers: received, text: await body.text() }
}

/** The age that a cache must not undercut: of the field, or since the date. */
function ageOf({ headers }: Answer): number {
  const since = headers['date'] === undefined ? 0 : (Date.now() - Date.parse(String(headers['date']))) / 1_000
  return Math.max(Number(headers['age'] ?? 0), Math.floor(since))
}

function cacheSuite(theirs: HttpCache, wire: 'h1' | 'h2c'): void {
  const stage = new Stage()
  const origin = new Origin()
  let url: string
  let plain: Client
  let paths = 0

  before(async () => {
    const port = await origin.start()
    stage.onEnd(() => origin.stop())
    url = (await theirs.start(stage, port))[wire]
    plain = open()
  })
  after(() => stage.end())

  function open(): Client {
    const client = wire === 'h2c' ? new H2CClient(url) : new Client(url)
    stage.onEnd(() => client.destroy())
    return client
  }

  /** A cache of ours, and the number of requests that it has sent to theirs. */
  function ours(options: CacheOptions = {}): { client: Dispatcher; sent: () => number } {
    let sent = 0
    const counting: Interceptor = (dispatch) => (opts, handler) => {
      sent++
      return dispatch(opts, handler)
    }
    return { client: open().compose(counting, interceptors.cache(options)), sent: () => sent }
  }

  /** A path of its own for each test. */
  function page(fields: Fields): string {
    const path = `/page/${++paths}`
    origin.fields.set(path, fields)
    return path
  }

  test('age: the time with them counts for us', async () => {
    const path = page({ 'cache-control': 'max-age=3600', ...(theirs.addsAge ? { age: '100' } : null) })
    let first = await get(plain, path)
    assert.equal(first.status, 200)
    const start = ageOf(first)
    await until('their response has an age', async () => {
      first = await get(plain, path)
      return ageOf(first) >= start + 2
    })
    const { client, sent } = ours()
    const stored = await get(client, path)
    const least = ageOf(stored)
    assert.ok(least >= ageOf(first) - 1)
    const hit = await get(client, path)
    assert.deepEqual([hit.text, sent()], [first.text, 1])
    assert.ok(Number(hit.headers['age']) >= least, `${hit.headers['age']} after ${least}`)
    assert.equal(origin.count(path), 1)
  })

  test('age: what was used up with them is not fresh with us', async () => {
    const path = page({ 'cache-control': 'max-age=3600', age: '3600' })
    const { client, sent } = ours()
    for (let i = 0; i < 3; i++) assert.equal((await get(client, path)).text, `${path} 1 none`)
    assert.equal(sent(), 3)
  })

  test('vary: variants of theirs stay apart with us', async () => {
    const path = page({ 'cache-control': 'max-age=3600', vary: 'accept-language' })
    const { client, sent } = ours()
    for (let round = 0; round < 2; round++) {
      for (const language of ['de', 'en', 'it']) {
        const { text } = await get(client, path, { 'accept-language': language })
        assert.equal(text, `${path} 1 ${language}`)
      }
    }
    assert.deepEqual([sent(), origin.count(path)], [3, 3])
  })

  test('304: theirs confirms what we have, and the origin is not asked', async () => {
    // Fresh for a shared cache alone.
    const path = page({ 'cache-control': 'max-age=0, s-maxage=3600' })
    const { client, sent } = ours({ type: 'private', cacheStatus: 'ours' })
    const first = await get(client, path)
    for (let i = 2; i <= 4; i++) {
      const next = await get(client, path)
      assert.deepEqual([next.status, next.text, sent()], [200, first.text, i])
      assert.match(String(next.headers['cache-status']), /ours; fwd=stale; fwd-status=304/)
      assert.equal(next.headers['warning'], undefined)
    }
    assert.equal(origin.count(path), 1)
  })

  test('304: confirmed by the origin through theirs, until it changes', async () => {
    const path = page({ 'cache-control': 'no-cache' })
    const { client } = ours()
    for (let i = 0; i < 3; i++) {
      const { status, text } = await get(client, path)
      assert.deepEqual([status, text], [200, `${path} 1 none`])
    }
    origin.versions.set(path, 2)
    await until('the change is seen', async () => (await get(client, path)).text === `${path} 2 none`)
    for (let i = 0; i < 3; i++) assert.equal((await get(client, path)).text, `${path} 2 none`)
  })

  test('stale-while-revalidate: ours is stale at once, theirs too, and both come up to date', async () => {
    const path = page({ 'cache-control': 'max-age=1, stale-while-revalidate=3600' })
    const { client } = ours()
    await get(client, path)
    origin.versions.set(path, 2)
    let stale = 0
    let seen = 1
    await until('the second version', async () => {
      const { status, text, headers } = await get(client, path)
      assert.equal(status, 200)
      const version = Number(text.split(' ')[1])
      assert.ok(version >= seen, `${version} after ${seen}`)
      seen = version
      if (headers['warning'] === '110 - "response is stale"') stale++
      return version === 2
    })
    assert.ok(stale > 0)
  })

  test('cache-status: theirs first, then ours', async (t) => {
    const path = page({ 'cache-control': 'max-age=3600' })
    await get(plain, path)
    const { headers } = await get(plain, path)
    if (headers['cache-status'] === undefined) {
      t.skip('this version does not add itself')
      return
    }
    const { client } = ours({ cacheStatus: 'ours' })
    const miss = String((await get(client, path)).headers['cache-status'])
    assert.match(miss, new RegExp(`^${theirs.name} *;.*hit.*, ours; fwd=miss; ttl=\\d+; stored$`))
    const hit = String((await get(client, path)).headers['cache-status'])
    assert.match(hit, new RegExp(`^${theirs.name} *;.*, ours; hit; ttl=\\d+$`))
  })

  test('one request for concurrent callers', async () => {
    const path = page({ 'cache-control': 'max-age=3600' })
    const { client, sent } = ours({ collapse: true })
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(client, path)))
    for (const { text } of answers) assert.equal(text, `${path} 1 none`)
    assert.deepEqual([sent(), origin.count(path)], [1, 1])
  })

  // The last one: the origin does not come back.
  test('stale-if-error: the origin is gone, and theirs says so', async () => {
    const path = page({ 'cache-control': 'max-age=0, stale-if-error=3600' })
    const without = page({ 'cache-control': 'max-age=0' })
    const { client } = ours()
    for (const each of [path, without]) assert.equal((await get(client, each)).status, 200)
    await origin.stop()
    const { status, text } = await get(client, path)
    assert.deepEqual([status, text], [200, `${path} 1 none`])
    const { client: floored } = ours({ staleIfError: 3_600_000 })
    assert.ok((await get(floored, '/never-stored')).status >= 500)
  })
}

for (const theirs of [nginxCache, varnish, squidCache]) {
  describeProgram(theirs.name, theirs.program, () => {
    describe('h1', () => cacheSuite(theirs, 'h1'))
    if (theirs.takesH2c) describe('h2c', () => cacheSuite(theirs, 'h2c'))
  })
}
