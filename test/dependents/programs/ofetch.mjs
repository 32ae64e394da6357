import assert from 'node:assert/strict'
import { createFetch } from 'ofetch'
import { Agent, fetch, Headers, ProxyAgent } from '#library'
import { failure, sendEvents, sendJson, text } from '../support.mjs'

const $fetch = createFetch({ fetch, Headers, AbortController })
const echo = async (request, response) => {
  sendJson(response, {
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: await text(request),
  })
}

export default {
  package: 'ofetch',
  about: '`createFetch({ fetch })`, `dispatcher` for each call',
  own: true,
  checks: {
    'parses JSON': async (t) => {
      const { url } = await $fetch('/x', { baseURL: await t.serve(echo), query: { a: 1 } })
      assert.equal(url, '/x?a=1')
    },
    'sends JSON': async (t) => {
      const { body, headers } = await $fetch(await t.serve(echo), { method: 'POST', body: { a: 1 } })
      assert.deepEqual([body, headers['content-type']], ['{"a":1}', 'application/json'])
    },
    'sends a stream': async (t) => {
      const body = new Blob(['streamed']).stream()
      assert.equal((await $fetch(await t.serve(echo), { method: 'POST', body })).body, 'streamed')
    },
    'returns a stream': async (t) => {
      const at = await t.serve((_, response) => sendEvents(response, ['data: 1\n\n', 'data: 2\n\n']))
      assert.equal(await text(await $fetch(at, { responseType: 'stream' })), 'data: 1\n\ndata: 2\n\n')
    },
    'throws a FetchError with its data': async (t) => {
      const at = await t.serve((_, response) => sendJson(response, { why: 'no' }, 400))
      const error = await failure($fetch(at))
      assert.deepEqual([error.statusCode, error.data], [400, { why: 'no' }])
    },
    'repeats after an error status': async (t) => {
      let calls = 0
      const at = await t.serve((_, response) => {
        if (++calls < 3) response.writeHead(502).end()
        else response.end('third')
      })
      assert.equal(await $fetch(at, { retry: 2, retryDelay: 1 }), 'third')
    },
    'times out': async (t) => {
      const at = await t.serve((request) => request.resume())
      const error = await failure($fetch(at, { timeout: 100, retry: 0 }))
      assert.match(error.message, /timeout/i)
    },
    'calls its interceptors': async (t) => {
      const seen = []
      await $fetch(await t.serve(echo), {
        onRequest: ({ options }) => {
          options.headers.set('x-a', 'b')
          seen.push('request')
        },
        onResponse: ({ response }) => {
          seen.push(response._data.headers['x-a'])
        },
      })
      assert.deepEqual(seen, ['request', 'b'])
    },
    'takes a dispatcher': async (t) => {
      const dispatcher = new Agent({ connections: 1 })
      t.after(() => dispatcher.close())
      assert.equal((await $fetch(await t.serve(echo), { dispatcher })).method, 'GET')
    },
    'goes through a proxy': async (t) => {
      const proxy = await t.proxy()
      const dispatcher = new ProxyAgent(proxy.origin)
      t.after(() => dispatcher.close())
      assert.equal((await $fetch(await t.serve(echo), { dispatcher })).method, 'GET')
      assert.equal(proxy.asked.length, 1)
    },
    'takes our dispatcher with the fetch of the runtime': async (t) => {
      const dispatcher = new Agent()
      t.after(() => dispatcher.close())
      const theirs = createFetch({ fetch: globalThis.fetch, Headers: globalThis.Headers, AbortController })
      assert.equal(
        (await theirs(await t.serve(echo), { method: 'POST', body: { a: 1 }, dispatcher })).body,
        '{"a":1}',
      )
    },
  },
}
