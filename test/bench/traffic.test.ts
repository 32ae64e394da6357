/** The requests and the servers of the benchmark: figures of a scenario whose traffic is wrong mean nothing. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Client, fetch, Pool } from '../../src/index.ts'
import { sourceUrl } from '../support/sources.ts'

interface Next {
  readonly origin?: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

interface Scenario {
  readonly name: string
  readonly title: string
  readonly kind: string
  readonly candidates: readonly string[]
}

interface Bench {
  readonly SCENARIOS: readonly Scenario[]
  readonly CANDIDATES: Readonly<Record<string, { readonly gateway?: string } | undefined>>
  readonly METRICS: Readonly<Record<string, unknown>>
  readonly PAGES: number
  readonly PAGE_LENGTH: number
  readonly PAGES_PATH: string
  readonly CHUNKS: number
  readonly CHUNKED_BODIES: Readonly<Record<string, number>>
  readonly PACED_PATH: string
  readonly FULL_PATH: string
  compressedPage(index: number): Buffer
  crawlTraffic(scenario: { ports: { pages: number[] }; path: string }): () => Next
  realTraffic(scenario: { path: string }): () => Next
  streamChunks(socket: Socket): void
  replayHeads(socket: Socket): void
}

const modules = await Promise.all(
  ['scenarios', 'candidates/index', 'metrics', 'crawl', 'real-traffic', 'chunks', 'heads'].map(
    (name) => import(sourceUrl(`bench/${name}.mjs`)) as Promise<object>,
  ),
)
const bench = Object.assign({}, ...modules) as Bench

/** Starts a server for the tests of a group. */
async function serve(onConnection: (socket: Socket) => void): Promise<string> {
  const server = net.createServer(onConnection)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the scenarios of the benchmark', () => {
  const { SCENARIOS, CANDIDATES, METRICS } = bench

  it('have names and titles of their own, candidates and metrics', () => {
    assert.equal(new Set(SCENARIOS.map(({ name }) => name)).size, SCENARIOS.length)
    assert.equal(new Set(SCENARIOS.map(({ title }) => title)).size, SCENARIOS.length)
    for (const { name, kind, candidates } of SCENARIOS) {
      assert.ok(METRICS[kind], name)
      for (const candidate of candidates) {
        assert.ok(CANDIDATES[candidate], `${name}: ${candidate}`)
        if (kind === 'gateway') assert.ok(CANDIDATES[candidate].gateway, `${name}: ${candidate}`)
      }
    }
  })
})

describe('the traffic of the benchmark', () => {
  const { realTraffic, crawlTraffic, compressedPage, PAGES, PAGES_PATH, PAGE_LENGTH } = bench
  const count = 1000

  it('sends no request of a service twice', () => {
    const next = realTraffic({ path: '/api/' })
    const requests = Array.from({ length: count }, next)
    for (const name of ['authorization', 'x-request-id', 'traceparent']) {
      assert.equal(new Set(requests.map(({ headers }) => headers[name])).size, count, name)
    }
    assert.equal(new Set(requests.map(({ path }) => path)).size, count)
  })

  it("sends a crawler to all origins and pages, and to no page's path twice", () => {
    const pages = [1, 2, 3]
    const requests = Array.from({ length: count }, crawlTraffic({ ports: { pages }, path: PAGES_PATH }))
    assert.equal(new Set(requests.map(({ path }) => path)).size, count)
    assert.equal(new Set(requests.map(({ headers }) => headers['cookie'])).size, count)
    assert.equal(new Set(requests.map(({ origin }) => origin)).size, pages.length)
    assert.equal(new Set(requests.map(({ path }) => path.split('/')[2])).size, PAGES)
  })

  it('has pages of the same length that differ', () => {
    const pages = Array.from({ length: PAGES }, (_, i) => gunzipSync(compressedPage(i)).toString())
    for (const page of pages) {
      assert.equal(page.length, PAGE_LENGTH)
      assert.match(page, /^<!doctype html>[\s\S]*<\/html>\n$/)
    }
    assert.equal(new Set(pages).size, PAGES)
  })
})

describe('the small chunks of the benchmark', () => {
  const { streamChunks, CHUNKED_BODIES, CHUNKS, FULL_PATH, PACED_PATH } = bench

  for (const path of [FULL_PATH, PACED_PATH]) {
    it(`arrive from ${path}`, async () => {
      const origin = await serve(streamChunks)
      const client = new Client(origin)
      const { body } = await client.request({ path, method: 'GET' })
      const text = await body.text()
      assert.equal(text.length, CHUNKED_BODIES[path])
      assert.equal(text.split('\n\n').length - 1, CHUNKS)
      // The same again on the same connection.
      const response = await fetch(origin + path, { dispatcher: client })
      assert.equal(await response.text(), text)
      await client.close()
    })
  }
})

describe('the recorded heads of the benchmark', () => {
  it('are those of five servers, whole, and with values that no other response has', async () => {
    const connections = 10
    const pool = new Pool(await serve(bench.replayHeads), { connections })
    const fields = new Map<string, Set<unknown>>()
    const servers = new Set<unknown>()
    const count = 60
    const get = async (): Promise<void> => {
      const { statusCode, headers, body } = await pool.request({ path: '/api/1', method: 'GET' })
      assert.equal(statusCode, 200)
      const { text } = (await body.json()) as { text: string }
      assert.match(text, /lazy dog/)
      assert.ok(Math.abs(Date.parse(String(headers['date'])) - Date.now()) < 60_000)
      servers.add(headers['server'] ?? headers['x-served-by'])
      for (const name of ['etag', 'x-request-id', 'set-cookie']) {
        const value = headers[name]
        if (value === undefined) continue
        const values = fields.get(name) ?? new Set()
        fields.set(name, values)
        const key = String(value)
        assert.ok(!values.has(key), `${name}: ${key} again`)
        values.add(key)
      }
    }
    await Promise.all(Array.from({ length: count }, get))
    assert.deepEqual([...fields.keys()].sort(), ['etag', 'set-cookie', 'x-request-id'])
    assert.ok(fields.get('set-cookie')!.size > count / 2)
    assert.equal(servers.size, 5)
    await pool.close()
  })
})
