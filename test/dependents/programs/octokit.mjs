import assert from 'node:assert/strict'
import { request } from '@octokit/request'
import { Agent, fetch, MockAgent, ProxyAgent } from '#library'
import { failure, json, sendJson } from '../support.mjs'

const make = (t, baseUrl, dispatcher = new Agent()) => {
  t.after(() => dispatcher.destroy())
  return request.defaults({
    baseUrl,
    request: { fetch: (url, init) => fetch(url, { ...init, dispatcher }) },
  })
}

export default {
  package: '@octokit/request',
  about: '`request.fetch` with a dispatcher',
  own: true,
  checks: {
    'gets with parameters of the route': async (t) => {
      const at = await t.serve((incoming, response) =>
        sendJson(response, { url: incoming.url }, 200, { etag: '"1"' }),
      )
      const { status, data, headers } = await make(t, at)('GET /repos/{owner}/{repo}/issues', {
        owner: 'o',
        repo: 'r',
        per_page: 5,
      })
      assert.deepEqual([status, data.url, headers.etag], [200, '/repos/o/r/issues?per_page=5', '"1"'])
    },
    'posts JSON': async (t) => {
      const at = await t.serve(async (incoming, response) => sendJson(response, await json(incoming), 201))
      const { status, data } = await make(t, at)('POST /user/repos', { name: 'n', private: true })
      assert.deepEqual([status, data], [201, { name: 'n', private: true }])
    },
    'sends its token and user agent': async (t) => {
      const at = await t.serve((incoming, response) => sendJson(response, incoming.headers))
      const { data } = await make(t, at)('GET /', { headers: { authorization: 'token t' } })
      assert.equal(data.authorization, 'token t')
      assert.match(data['user-agent'], /^octokit-request/)
    },
    'throws a RequestError': async (t) => {
      const at = await t.serve((_, response) => sendJson(response, { message: 'Not Found' }, 404))
      const error = await failure(make(t, at)('GET /nothing'))
      assert.deepEqual(
        [error.name, error.status, error.response.data.message],
        ['HttpError', 404, 'Not Found'],
      )
    },
    'throws for 304': async (t) => {
      const at = await t.serve((_, response) => response.writeHead(304).end())
      assert.equal((await failure(make(t, at)('GET /'))).status, 304)
    },
    'reads 204': async (t) => {
      const at = await t.serve((_, response) => response.writeHead(204).end())
      assert.equal((await make(t, at)('DELETE /x')).status, 204)
    },
    'downloads bytes': async (t) => {
      const at = await t.serve((_, response) => {
        response.setHeader('content-type', 'application/zip').end(Buffer.alloc(100_000))
      })
      assert.equal((await make(t, at)('GET /zip')).data.byteLength, 100_000)
    },
    'uploads bytes': async (t) => {
      const at = await t.serve(async (incoming, response) => {
        let size = 0
        for await (const chunk of incoming) size += chunk.length
        sendJson(response, { size, type: incoming.headers['content-type'] })
      })
      const { data } = await make(t, at)('POST /assets{?name}', {
        name: 'a.bin',
        data: Buffer.alloc(100_000),
        headers: { 'content-type': 'application/octet-stream' },
      })
      assert.deepEqual(data, { size: 100_000, type: 'application/octet-stream' })
    },
    'names a lost connection': async (t) => {
      const at = await t.serveSockets((socket) => socket.once('data', () => socket.end()))
      const error = await failure(make(t, at)('POST /x', { a: 1 }))
      assert.match(error.message, /other side closed/)
    },
    'goes through a proxy': async (t) => {
      const proxy = await t.proxy()
      const at = await t.serve((_, response) => sendJson(response, { ok: true }))
      const { data } = await make(t, at, new ProxyAgent(proxy.origin))('GET /')
      assert.equal(data.ok, true)
      assert.equal(proxy.asked.length, 1)
    },
    'is mocked': async (t) => {
      const agent = new MockAgent()
      agent.disableNetConnect()
      agent
        .get('https://api.github.test')
        .intercept({ path: '/user' })
        .reply(200, { login: 'me' }, { headers: { 'content-type': 'application/json; charset=utf-8' } })
      assert.equal((await make(t, 'https://api.github.test', agent)('GET /user')).data.login, 'me')
    },
  },
}
