import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { Readable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { errors, Transport, UndiciConnection, WeightedConnectionPool } from '@elastic/transport'
import { MockAgent } from 'undici'
import { ca, failure, sendJson, text } from '../support.mjs'

function transport(t, node, { pool = {}, connection = {}, ...options } = {}) {
  const connections = new WeightedConnectionPool({ Connection: UndiciConnection, ...pool })
  for (const each of [node].flat()) connections.addConnection({ url: new URL(each), ...connection })
  t.after(() => connections.empty())
  return new Transport({ connectionPool: connections, maxRetries: 0, ...options })
}

export default {
  package: '@elastic/transport',
  about: '`UndiciConnection`: search, bulk, compression, time limits, dead nodes',
  checks: {
    searches: async (t) => {
      const node = await t.serve(async (request, response) => {
        sendJson(response, { url: request.url, query: JSON.parse(await text(request)) })
      })
      const found = await transport(t, node).request({
        method: 'POST',
        path: '/index/_search',
        querystring: { size: 3 },
        body: { query: { match_all: {} } },
      })
      assert.deepEqual(found, { url: '/index/_search?size=3', query: { query: { match_all: {} } } })
    },
    'sends a bulk body': async (t) => {
      const node = await t.serve(async (request, response) => {
        const lines = (await text(request)).trim().split('\n')
        sendJson(response, { type: request.headers['content-type'], lines: lines.length })
      })
      const bulkBody = Array.from({ length: 1_000 }, (_, i) => [
        { index: { _id: i } },
        { text: 'x'.repeat(100) },
      ]).flat()
      const { type, lines } = await transport(t, node).request({ method: 'POST', path: '/_bulk', bulkBody })
      assert.match(type, /ndjson/)
      assert.equal(lines, 2_000)
    },
    'sends a stream': async (t) => {
      const node = await t.serve(async (request, response) =>
        sendJson(response, { body: await text(request) }),
      )
      const body = Readable.from(['{"a":', '1}'])
      assert.deepEqual(await transport(t, node).request({ method: 'POST', path: '/', body }), {
        body: '{"a":1}',
      })
    },
    'compresses both ways': async (t) => {
      const node = await t.serve(async (request, response) => {
        const chunks = []
        for await (const chunk of request) chunks.push(chunk)
        const body = gunzipSync(Buffer.concat(chunks))
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        response.end(gzipSync(body))
      })
      const client = transport(t, node, { compression: true })
      const body = { text: 'y'.repeat(10_000) }
      assert.deepEqual(await client.request({ method: 'POST', path: '/', body }), body)
    },
    'returns the head with `meta`': async (t) => {
      const node = await t.serve((_, response) =>
        sendJson(response, {}, 201, { 'x-elastic-product': 'Elasticsearch' }),
      )
      const { statusCode, headers } = await transport(t, node).request(
        { method: 'PUT', path: '/i' },
        { meta: true },
      )
      assert.deepEqual([statusCode, headers['x-elastic-product']], [201, 'Elasticsearch'])
    },
    'returns a stream': async (t) => {
      const node = await t.serve((_, response) => sendJson(response, { a: 'x'.repeat(200_000) }))
      const body = await transport(t, node).request({ method: 'GET', path: '/' }, { asStream: true })
      assert.equal(JSON.parse(await text(body)).a.length, 200_000)
    },
    'asks with HEAD': async (t) => {
      const node = await t.serve((request, response) => {
        response.writeHead(request.url === '/there' ? 200 : 404, { 'content-type': 'application/json' }).end()
      })
      const client = transport(t, node)
      assert.equal(await client.request({ method: 'HEAD', path: '/there' }), true)
      assert.equal(await client.request({ method: 'HEAD', path: '/not' }), false)
    },
    'fails with a ResponseError': async (t) => {
      const node = await t.serve((_, response) => sendJson(response, { error: { type: 'x' } }, 400))
      const error = await failure(transport(t, node).request({ method: 'GET', path: '/' }))
      assert.ok(error instanceof errors.ResponseError)
      assert.equal(error.statusCode, 400)
    },
    'fails with a TimeoutError after the limit of the connection': async (t) => {
      const node = await t.serve((request) => request.resume())
      const client = transport(t, node, { connection: { timeout: 100 } })
      assert.ok((await failure(client.request({ method: 'GET', path: '/' }))) instanceof errors.TimeoutError)
    },
    'fails with a TimeoutError after the limit of a request': async (t) => {
      const node = await t.serve((request) => request.resume())
      const error = await failure(
        transport(t, node).request({ method: 'GET', path: '/' }, { requestTimeout: 100 }),
      )
      assert.ok(error instanceof errors.TimeoutError)
    },
    'is aborted': async (t) => {
      const aborter = new AbortController()
      const node = await t.serve(() => aborter.abort())
      const error = await failure(
        transport(t, node).request({ method: 'GET', path: '/' }, { signal: aborter.signal }),
      )
      assert.ok(error instanceof errors.RequestAbortedError)
    },
    'fails with a ConnectionError that names the addresses': async (t) => {
      const node = await t.serveSockets((socket) => socket.once('data', () => socket.end()))
      const error = await failure(transport(t, node).request({ method: 'GET', path: '/' }))
      assert.ok(error instanceof errors.ConnectionError)
      assert.match(error.message, /^other side closed - Local: 127\.0\.0\.1:\d+, Remote: 127\.0\.0\.1:\d+$/)
    },
    'goes on with another node': async (t) => {
      const good = await t.serve((_, response) => sendJson(response, { good: true }))
      const client = transport(t, [await t.nowhere(), good], { maxRetries: 3 })
      for (let i = 0; i < 4; i++)
        assert.deepEqual(await client.request({ method: 'GET', path: '/' }), { good: true })
    },
    'refuses a response over its limit': async (t) => {
      const node = await t.serve((_, response) => sendJson(response, { a: 'x'.repeat(1_000) }))
      const error = await failure(
        transport(t, node).request({ method: 'GET', path: '/' }, { maxResponseSize: 100 }),
      )
      assert.ok(error instanceof errors.RequestAbortedError)
    },
    'goes over TLS': async (t) => {
      const node = await t.serveTls((_, response) => sendJson(response, { secure: true }))
      const client = transport(t, node, { connection: { tls: { ca } } })
      assert.deepEqual(await client.request({ method: 'GET', path: '/' }), { secure: true })
    },
    'checks the fingerprint of the authority': async (t) => {
      const node = await t.serveTls((_, response) => sendJson(response, { secure: true }))
      const { fingerprint256 } = new X509Certificate(ca)
      const tls = { ca }
      const client = transport(t, node, { connection: { tls, caFingerprint: fingerprint256 } })
      assert.deepEqual(await client.request({ method: 'GET', path: '/' }), { secure: true })
      const other = transport(t, node, {
        connection: { tls, caFingerprint: fingerprint256.replace(/^../, '00') },
      })
      assert.match((await failure(other.request({ method: 'GET', path: '/' }))).message, /fingerprint/)
    },
    'takes an agent function, for example of mocks': async (t) => {
      const agent = new MockAgent()
      agent.disableNetConnect()
      t.after(() => agent.close())
      agent
        .get('http://elastic.test:9200')
        .intercept({ path: '/_cat', method: 'GET' })
        .reply(200, { mocked: true }, { headers: { 'content-type': 'application/json' } })
      const client = transport(t, 'http://elastic.test:9200', {
        connection: { agent: () => agent.get('http://elastic.test:9200') },
      })
      assert.deepEqual(await client.request({ method: 'GET', path: '/_cat' }), { mocked: true })
    },
    'makes a hundred requests at a time': async (t) => {
      const node = await t.serve((request, response) => sendJson(response, { url: request.url }))
      const client = transport(t, node)
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, i) => client.request({ method: 'GET', path: `/${i}` })),
      )
      assert.deepEqual(
        answers.map(({ url }) => url),
        answers.map((_, i) => `/${i}`),
      )
    },
  },
}
