import assert from 'node:assert/strict'
import ky from '#ky'
import { Agent, FormData, fetch } from '#library'
import { ca, failure, isNewest, sendJson, text } from '../support.mjs'

const make = (t, options = {}, agentOptions = {}) => {
  const dispatcher = new Agent(agentOptions)
  t.after(() => dispatcher.destroy())
  return ky.create({ fetch: (input, init) => fetch(input, { ...init, dispatcher }), retry: 0, ...options })
}
const echo = async (request, response) => {
  sendJson(response, {
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: await text(request),
  })
}

export default {
  package: 'ky',
  about: '`fetch` as an option; requests of the runtime',
  own: true,
  checks: {
    'gets JSON': async (t) => {
      const { url } = await make(t)
        .get(await t.serve(echo), { searchParams: { a: 1 } })
        .json()
      assert.equal(url, '/?a=1')
    },
    'posts JSON': async (t) => {
      const { body, headers } = await make(t)
        .post(await t.serve(echo), { json: { a: 1 } })
        .json()
      assert.deepEqual([body, headers['content-type']], ['{"a":1}', 'application/json'])
    },
    'posts a form': async (t) => {
      const form = new FormData()
      form.append('a', 'b')
      const { body } = await make(t)
        .post(await t.serve(echo), { body: form })
        .json()
      assert.match(body, /name="a"\r\n\r\nb\r\n/)
    },
    'posts a form of the runtime': async (t) => {
      const form = new globalThis.FormData()
      form.append('a', 'b')
      const { body } = await make(t)
        .post(await t.serve(echo), { body: form })
        .json()
      assert.match(body, /name="a"\r\n\r\nb\r\n/)
    },
    'throws an HTTPError': async (t) => {
      const at = await t.serve((_, response) => sendJson(response, {}, 404))
      const error = await failure(make(t).get(at))
      assert.deepEqual([error.name, error.response.status], ['HTTPError', 404])
    },
    'throws a TimeoutError': async (t) => {
      const at = await t.serve((request) => request.resume())
      assert.equal((await failure(make(t, { timeout: 100 }).get(at))).name, 'TimeoutError')
    },
    'repeats a request': async (t) => {
      let calls = 0
      const at = await t.serve((_, response) => {
        if (++calls < 3) response.writeHead(503).end()
        else response.end('third')
      })
      const api = make(t, { retry: { limit: 3, delay: () => 1 } })
      assert.equal(await api.get(at).text(), 'third')
    },
    'repeats a request with a body': async (t) => {
      let calls = 0
      const at = await t.serve(async (request, response) => {
        const body = await text(request)
        response.writeHead(++calls < 2 ? 503 : 200).end(body)
      })
      const api = make(t, { retry: { limit: 3, delay: () => 1 } })
      assert.equal(await api.put(at, { body: 'again' }).text(), 'again')
    },
    'calls its hooks': async (t) => {
      const api = make(t, {
        hooks: {
          beforeRequest: [({ headers, ...rest }) => (headers ?? rest.request.headers).set('x-a', 'b')],
          afterResponse: [(_request, _options, response) => response],
        },
      })
      assert.equal((await api.get(await t.serve(echo)).json()).headers['x-a'], 'b')
    },
    'extends with a prefix': async (t) => {
      const api = make(t, { [isNewest ? 'prefix' : 'prefixUrl']: await t.serve(echo) }).extend({
        headers: { 'x-a': 'b' },
      })
      const { url, headers } = await api.get('v1/x').json()
      assert.deepEqual([url, headers['x-a']], ['/v1/x', 'b'])
    },
    'reports progress': async (t) => {
      const at = await t.serve((_, response) =>
        response.writeHead(200, { 'content-length': 100_000 }).end(Buffer.alloc(100_000)),
      )
      let last
      await make(t)
        .get(at, {
          onDownloadProgress: (progress) => {
            last = progress
          },
        })
        .arrayBuffer()
      assert.equal(last.transferredBytes, 100_000)
    },
    'is aborted': async (t) => {
      const aborter = new AbortController()
      const at = await t.serve(() => aborter.abort())
      assert.equal((await failure(make(t).get(at, { signal: aborter.signal }))).name, 'AbortError')
    },
    'goes over HTTP/2': async (t) => {
      const at = await t.serveH2((request, response) => response.end(request.httpVersion))
      assert.equal(await make(t, {}, { connect: { ca }, allowH2: true }).get(at).text(), '2.0')
    },
  },
}
