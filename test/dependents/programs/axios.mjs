import assert from 'node:assert/strict'
import axios from 'axios'
import { Agent, fetch, ProxyAgent, Request, Response } from '#library'
import { failure, sendJson, text } from '../support.mjs'

const env = { fetch, Request, Response }
const make = (options = {}) => axios.create({ adapter: 'fetch', env, ...options })
const echo = async (request, response) => {
  const { method, url, headers } = request
  sendJson(response, { method, url, headers, body: await text(request) })
}

export default {
  package: 'axios',
  about: 'the fetch adapter with `env.fetch`',
  own: true,
  checks: {
    'gets with parameters': async (t) => {
      const { data, status, headers } = await make().get(await t.serve(echo), {
        params: { a: 1, b: ['x', 'y'] },
      })
      assert.deepEqual([status, data.method, headers['content-type']], [200, 'GET', 'application/json'])
      assert.match(data.url, /^\/\?a=1&b(\[\]|%5B%5D)=x/)
    },
    'posts JSON': async (t) => {
      const { data } = await make().post(await t.serve(echo), { a: 1 })
      assert.deepEqual([data.body, data.headers['content-type']], ['{"a":1}', 'application/json'])
    },
    'posts a form': async (t) => {
      const form = new FormData()
      form.append('a', 'b')
      form.append('f', new Blob(['content']), 'f.txt')
      const { data } = await make().post(await t.serve(echo), form, {
        headers: { 'content-type': false },
      })
      assert.match(data.headers['content-type'], /^multipart\/form-data; boundary=/)
      assert.match(data.body, /filename="f.txt"/)
    },
    'posts URLSearchParams': async (t) => {
      const { data } = await make().post(await t.serve(echo), new URLSearchParams({ a: 'b c' }))
      assert.equal(data.body, 'a=b+c')
    },
    'posts a stream': async (t) => {
      const body = new Blob(['x'.repeat(100_000)]).stream()
      const { data } = await make().post(await t.serve(echo), body)
      assert.equal(data.body.length, 100_000)
    },
    'reports progress of a download': async (t) => {
      const at = await t.serve((_, response) => {
        response.writeHead(200, { 'content-length': 300_000 }).end(Buffer.alloc(300_000))
      })
      let loaded = 0
      const { data } = await make().get(at, {
        responseType: 'arraybuffer',
        onDownloadProgress: (progress) => {
          loaded = progress.loaded
        },
      })
      assert.equal(data.byteLength, 300_000)
      assert.equal(loaded, 300_000)
    },
    'reports progress of an upload': async (t) => {
      let seen = 0
      await make().post(await t.serve(echo), 'x'.repeat(100_000), {
        onUploadProgress: ({ loaded }) => {
          seen = loaded
        },
      })
      assert.equal(seen, 100_000)
    },
    'returns a stream': async (t) => {
      const at = await t.serve((_, response) => response.end('streamed'))
      const { data } = await make().get(at, { responseType: 'stream' })
      assert.equal(await text(data), 'streamed')
    },
    'throws for an error status': async (t) => {
      const at = await t.serve((_, response) => sendJson(response, { why: 'no' }, 422))
      const error = await failure(make().get(at))
      assert.deepEqual(
        [error.response.status, error.response.data, error.code],
        [422, { why: 'no' }, 'ERR_BAD_REQUEST'],
      )
    },
    'times out': async (t) => {
      const at = await t.serve((request) => request.resume())
      assert.match((await failure(make({ timeout: 100 }).get(at))).code, /ECONNABORTED|ETIMEDOUT/)
    },
    'is cancelled': async (t) => {
      const aborter = new AbortController()
      const at = await t.serve(() => aborter.abort())
      assert.ok(axios.isCancel(await failure(make().get(at, { signal: aborter.signal }))))
    },
    'names a refused connection': async (t) => {
      const error = await failure(make().get(await t.nowhere()))
      assert.deepEqual([error.code, error.cause?.code], ['ERR_NETWORK', 'ECONNREFUSED'])
    },
    'follows a redirect': async (t) => {
      const at = await t.serve((request, response) => {
        if (request.url === '/') response.writeHead(302, { location: '/to' }).end()
        else response.end('there')
      })
      assert.equal((await make().get(at)).data, 'there')
    },
    'takes a dispatcher': async (t) => {
      const proxy = await t.proxy()
      const dispatcher = new ProxyAgent({ uri: proxy.origin, proxyTunnel: true })
      t.after(() => dispatcher.close())
      const through = make({ env: { ...env, fetch: (input, init) => fetch(input, { ...init, dispatcher }) } })
      assert.equal((await through.post(await t.serve(echo), 'x')).data.body, 'x')
      assert.equal(proxy.asked.length, 1)
    },
    'refuses a body over its limit': async (t) => {
      const at = await t.serve((_, response) => response.end('x'.repeat(1_000)))
      await failure(make({ maxContentLength: 100 }).get(at))
    },
    'makes a hundred requests at a time': async (t) => {
      const at = await t.serve(echo)
      const dispatcher = new Agent({ connections: 5 })
      t.after(() => dispatcher.close())
      const api = make({
        baseURL: at,
        env: { ...env, fetch: (input, init) => fetch(input, { ...init, dispatcher }) },
      })
      const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => api.get(`/${i}`)))
      assert.deepEqual(
        answers.map(({ data }) => data.url),
        answers.map((_, i) => `/${i}`),
      )
    },
  },
}
