import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { REST } from '@discordjs/rest'
import { failure, json, sendJson, text } from '../support.mjs'

// The copy that the package uses.
const { Agent, MockAgent } = createRequire(createRequire(import.meta.url).resolve('@discordjs/rest'))(
  'undici',
)

function mocked(t, options = {}) {
  const agent = new MockAgent()
  agent.disableNetConnect()
  t.after(() => agent.close())
  const rest = new REST({ agent, retries: 0, ...options }).setToken('token')
  t.after(() => rest.clearHashSweeper?.())
  t.after(() => rest.clearHandlerSweeper?.())
  return { pool: agent.get('https://discord.com'), rest, agent }
}

const real = (t, at, options = {}) => {
  const agent = new Agent()
  t.after(() => agent.destroy())
  const rest = new REST({ agent, api: `${at}/api`, retries: 0, ...options }).setToken('token')
  t.after(() => rest.clearHashSweeper?.())
  t.after(() => rest.clearHandlerSweeper?.())
  return rest
}

const JSON_TYPE = { headers: { 'content-type': 'application/json' } }

export default {
  package: '@discordjs/rest',
  about: '`MockAgent`, rate limits, uploads',
  checks: {
    'gets from a mock': async (t) => {
      const { pool, rest } = mocked(t)
      pool.intercept({ path: '/api/v10/gateway', method: 'GET' }).reply(200, { url: 'wss://x' }, JSON_TYPE)
      assert.deepEqual(await rest.get('/gateway'), { url: 'wss://x' })
    },
    'sends its token, and a reason': async (t) => {
      const { pool, rest } = mocked(t)
      pool.intercept({ path: '/api/v10/x', method: 'DELETE' }).reply(({ headers }) => ({
        statusCode: 200,
        data: {
          authorization: header(headers, 'authorization'),
          reason: header(headers, 'x-audit-log-reason'),
        },
        responseOptions: JSON_TYPE,
      }))
      assert.deepEqual(await rest.delete('/x', { reason: 'no use' }), {
        authorization: 'Bot token',
        reason: 'no%20use',
      })
    },
    'posts JSON to a mock that matches the body': async (t) => {
      const { pool, rest } = mocked(t)
      pool
        .intercept({ path: '/api/v10/channels/1/messages', method: 'POST', body: '{"content":"hello"}' })
        .reply(200, { id: '2' }, JSON_TYPE)
      assert.deepEqual(await rest.post('/channels/1/messages', { body: { content: 'hello' } }), { id: '2' })
    },
    'sends a query': async (t) => {
      const { pool, rest } = mocked(t)
      pool.intercept({ path: '/api/v10/x?limit=5', method: 'GET' }).reply(200, { ok: true }, JSON_TYPE)
      assert.deepEqual(await rest.get('/x', { query: new URLSearchParams({ limit: '5' }) }), { ok: true })
    },
    'throws a DiscordAPIError': async (t) => {
      const { pool, rest } = mocked(t)
      pool
        .intercept({ path: '/api/v10/x', method: 'GET' })
        .reply(403, { code: 50_013, message: 'Missing' }, JSON_TYPE)
      const error = await failure(rest.get('/x'))
      assert.deepEqual([error.name, error.status, error.code], ['DiscordAPIError[50013]', 403, 50_013])
    },
    'waits for a rate limit': async (t) => {
      const { pool, rest } = mocked(t, { rejectOnRateLimit: null, offset: 0 })
      pool.intercept({ path: '/api/v10/x', method: 'GET' }).reply(
        429,
        { retry_after: 0.01, global: false },
        {
          headers: { 'content-type': 'application/json', 'retry-after': '0.01', via: '1.1 google' },
        },
      )
      pool.intercept({ path: '/api/v10/x', method: 'GET' }).reply(200, { ok: true }, JSON_TYPE)
      assert.deepEqual(await rest.get('/x'), { ok: true })
    },
    'repeats after 500': async (t) => {
      const { pool, rest } = mocked(t, { retries: 1 })
      pool.intercept({ path: '/api/v10/x', method: 'GET' }).reply(500, '')
      pool.intercept({ path: '/api/v10/x', method: 'GET' }).reply(200, { ok: true }, JSON_TYPE)
      assert.deepEqual(await rest.get('/x'), { ok: true })
    },
    'fails without a mock': async (t) => {
      const { rest } = mocked(t)
      assert.match((await failure(rest.get('/nothing'))).message, /MockNotMatched|Mock dispatch not matched/)
    },
    'has mocks left over': async (t) => {
      const { pool, agent } = mocked(t)
      pool.intercept({ path: '/api/v10/x', method: 'GET' }).reply(200, {})
      assert.equal(agent.pendingInterceptors().length, 1)
    },
    'gets from a server': async (t) => {
      const at = await t.serve((request, response) => sendJson(response, { url: request.url }))
      assert.deepEqual(await real(t, at).get('/users/@me'), { url: '/api/v10/users/@me' })
    },
    'posts JSON to a server': async (t) => {
      const at = await t.serve(async (request, response) => sendJson(response, await json(request)))
      assert.deepEqual(await real(t, at).post('/x', { body: { a: 1 } }), { a: 1 })
    },
    'uploads files': async (t) => {
      const at = await t.serve(async (request, response) => {
        sendJson(response, { type: request.headers['content-type'], body: await text(request) })
      })
      const { type, body } = await real(t, at).post('/x', {
        body: { content: 'see' },
        files: [
          { name: 'a.txt', data: Buffer.from('first') },
          { name: 'b.txt', data: 'second' },
        ],
      })
      assert.match(type, /^multipart\/form-data; boundary=/)
      assert.match(body, /name="files\[0\]"; filename="a.txt"/)
      assert.match(body, /name="payload_json"\r\n\r\n{"content":"see"}/)
    },
    'times out': async (t) => {
      const at = await t.serve((request) => request.resume())
      assert.match((await failure(real(t, at, { timeout: 100 }).get('/x'))).name, /Abort/)
    },
    'is aborted': async (t) => {
      const aborter = new AbortController()
      const at = await t.serve(() => aborter.abort())
      assert.match((await failure(real(t, at).get('/x', { signal: aborter.signal }))).name, /Abort/)
    },
    'downloads bytes': async (t) => {
      const at = await t.serve((_, response) =>
        response.setHeader('content-type', 'image/png').end(Buffer.alloc(50_000)),
      )
      assert.equal((await real(t, at).get('/x')).byteLength, 50_000)
    },
  },
}

function header(headers, name) {
  return typeof headers.get === 'function'
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
}
