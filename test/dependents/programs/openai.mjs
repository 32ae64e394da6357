import assert from 'node:assert/strict'
import { Agent, fetch, interceptors, MockAgent, ProxyAgent, RetryAgent } from '#library'
import OpenAI from '#openai'
import { ca, failure, json, sendEvents, sendJson } from '../support.mjs'

const words = ['to', 'be', 'or', 'not']
const piece = (content) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content } }],
})
const answer = (content) => ({
  id: 'x',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content } }],
})

/** Streams the words if asked to; otherwise answers with the last message. */
const model = async (request, response) => {
  const { stream, messages } = await json(request)
  if (!stream) return sendJson(response, answer(messages.at(-1).content))
  const lines = words.map((word) => `data: ${JSON.stringify(piece(word))}\n\n`)
  return sendEvents(response, [...lines, 'data: [DONE]\n\n'])
}

function client(t, baseURL, dispatcher, options = {}) {
  t.after(() => dispatcher?.destroy())
  return new OpenAI({ apiKey: 'k', baseURL, fetch, fetchOptions: { dispatcher }, maxRetries: 0, ...options })
}

const ask = { model: 'm', messages: [{ role: 'user', content: 'hello' }] }

async function streamed(api) {
  const seen = []
  for await (const { choices } of await api.chat.completions.create({ ...ask, stream: true })) {
    seen.push(choices[0].delta.content)
  }
  return seen
}

export default {
  package: 'openai',
  about: 'streams through `fetchOptions.dispatcher`, proxies, HTTP/2',
  own: true,
  checks: {
    completes: async (t) => {
      const api = client(t, await t.serve(model), new Agent())
      assert.equal((await api.chat.completions.create(ask)).choices[0].message.content, 'hello')
    },
    streams: async (t) => {
      assert.deepEqual(await streamed(client(t, await t.serve(model), new Agent())), words)
    },
    'streams over TLS and HTTP/2': async (t) => {
      const api = client(t, await t.serveH2(model), new Agent({ connect: { ca }, allowH2: true }))
      assert.deepEqual(await streamed(api), words)
    },
    'streams through a tunnel of a proxy': async (t) => {
      const proxy = await t.proxy()
      const dispatcher = new ProxyAgent({ uri: proxy.origin, requestTls: { ca }, token: 'Bearer t' })
      assert.deepEqual(await streamed(client(t, await t.serveTls(model), dispatcher)), words)
      assert.match(proxy.asked.join(), /^CONNECT localhost:\d+ Bearer t$/)
    },
    'completes through a proxy without TLS': async (t) => {
      const proxy = await t.proxy()
      const api = client(t, await t.serve(model), new ProxyAgent(proxy.origin))
      assert.equal((await api.chat.completions.create(ask)).choices[0].message.content, 'hello')
      assert.equal(proxy.asked.length, 1)
    },
    'stops a stream': async (t) => {
      let closed
      const gone = new Promise((resolve) => {
        closed = resolve
      })
      const at = await t.serve((request, response) => {
        request.socket.once('close', closed)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${JSON.stringify(piece('one'))}\n\n`)
      })
      const stream = await client(t, at, new Agent()).chat.completions.create({ ...ask, stream: true })
      for await (const _ of stream) break
      await gone
    },
    'is aborted by a signal': async (t) => {
      const aborter = new AbortController()
      const at = await t.serve(() => aborter.abort())
      const error = await failure(
        client(t, at, new Agent()).chat.completions.create(ask, { signal: aborter.signal }),
      )
      assert.ok(error instanceof OpenAI.APIUserAbortError)
    },
    'fails after its timeout': async (t) => {
      const at = await t.serve((request) => request.resume())
      const error = await failure(client(t, at, new Agent(), { timeout: 100 }).chat.completions.create(ask))
      assert.ok(error instanceof OpenAI.APIConnectionTimeoutError)
    },
    'names a refused connection': async (t) => {
      const error = await failure(client(t, await t.nowhere(), new Agent()).chat.completions.create(ask))
      assert.ok(error instanceof OpenAI.APIConnectionError)
      assert.equal(error.cause.cause.code, 'ECONNREFUSED')
    },
    'repeats by itself after 429': async (t) => {
      let calls = 0
      const at = await t.serve((request, response) => {
        if (++calls > 1) return model(request, response)
        request.resume()
        return sendJson(response, { error: { message: 'slow' } }, 429, { 'retry-after-ms': '1' })
      })
      const api = client(t, at, new Agent(), { maxRetries: 1 })
      assert.equal((await api.chat.completions.create(ask)).choices[0].message.content, 'hello')
    },
    'repeats by a RetryAgent': async (t) => {
      let calls = 0
      const at = await t.serve((request, response) => {
        if (++calls > 1) return sendJson(response, { object: 'list', data: [{ id: 'm' }] })
        return request.socket.destroy()
      })
      const api = client(t, at, new RetryAgent(new Agent(), { minTimeout: 1 }))
      assert.equal((await api.models.list()).data[0].id, 'm')
    },
    'reports the text of an error': async (t) => {
      const at = await t.serve((request, response) => {
        request.resume()
        sendJson(response, { error: { message: 'wrong key', code: 'invalid_api_key' } }, 401)
      })
      const error = await failure(client(t, at, new Agent()).chat.completions.create(ask))
      assert.ok(error instanceof OpenAI.AuthenticationError)
      assert.equal(error.code, 'invalid_api_key')
    },
    'fails if a stream is cut off': async (t) => {
      const at = await t.serve((request, response) => {
        request.resume()
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${JSON.stringify(piece('one'))}\n\n`, () => response.socket.destroy())
      })
      await failure(streamed(client(t, at, new Agent())))
    },
    'uploads a file': async (t) => {
      const at = await t.serve(async (request, response) => {
        let size = 0
        for await (const chunk of request) size += chunk.length
        sendJson(response, { id: 'f', bytes: size, type: request.headers['content-type'] })
      })
      const file = new File([new Uint8Array(200_000)], 'a.jsonl')
      const { bytes, type } = await client(t, at, new Agent()).files.create({ file, purpose: 'batch' })
      assert.ok(bytes > 200_000)
      assert.match(type, /^multipart\/form-data; boundary=/)
    },
    'downloads a file': async (t) => {
      const at = await t.serve((_, response) => response.end(Buffer.alloc(500_000)))
      const response = await client(t, at, new Agent()).files.content('f')
      assert.equal((await response.arrayBuffer()).byteLength, 500_000)
    },
    'is intercepted': async (t) => {
      const at = await t.serve((request, response) =>
        sendJson(response, { data: [{ id: request.headers['x-a'] }] }),
      )
      const mark = (dispatch) => (options, handler) =>
        dispatch(
          { ...options, headers: { ...Object.fromEntries(entries(options.headers)), 'x-a': 'marked' } },
          handler,
        )
      const api = client(t, at, new Agent().compose(mark, interceptors.retry()))
      assert.equal((await api.models.list()).data[0].id, 'marked')
    },
    'is mocked': async (t) => {
      const agent = new MockAgent()
      agent.disableNetConnect()
      agent
        .get('https://model.test')
        .intercept({ path: '/v1/chat/completions', method: 'POST' })
        .reply(200, answer('mocked'), { headers: { 'content-type': 'application/json' } })
      const api = client(t, 'https://model.test/v1', agent)
      assert.equal((await api.chat.completions.create(ask)).choices[0].message.content, 'mocked')
    },
    'takes our dispatcher with the fetch of the runtime': async (t) => {
      const api = client(t, await t.serve(model), new Agent(), { fetch: globalThis.fetch })
      assert.deepEqual(await streamed(api), words)
    },
    'goes through a proxy with the fetch of the runtime': async (t) => {
      const proxy = await t.proxy()
      const dispatcher = new ProxyAgent({ uri: proxy.origin, requestTls: { ca } })
      const api = client(t, await t.serveTls(model), dispatcher, { fetch: globalThis.fetch })
      assert.deepEqual(await streamed(api), words)
    },
  },
}

function entries(headers) {
  if (!Array.isArray(headers))
    return typeof headers[Symbol.iterator] === 'function' ? headers : Object.entries(headers)
  return headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1]]] : []))
}
