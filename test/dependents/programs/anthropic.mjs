import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import { Agent, fetch, ProxyAgent } from '#library'
import { ca, failure, json, sendEvents, sendJson } from '../support.mjs'

const words = ['to', 'be', 'or', 'not']
const event = (type, rest) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
const message = (content) => ({ id: 'm', type: 'message', role: 'assistant', model: 'c', content, usage: {} })

/** Streams the words if asked to; otherwise answers with the last message. */
const model = async (request, response) => {
  const { stream, messages } = await json(request)
  if (!stream) return sendJson(response, message([{ type: 'text', text: messages.at(-1).content }]))
  return sendEvents(response, [
    event('message_start', { message: message([]) }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ': a comment\n\n',
    ...words.map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } }),
    event('message_stop', {}),
  ])
}

function client(t, baseURL, dispatcher, options = {}) {
  t.after(() => dispatcher.destroy())
  return new Anthropic({
    apiKey: 'k',
    baseURL,
    fetch,
    fetchOptions: { dispatcher },
    maxRetries: 0,
    ...options,
  })
}

const ask = { model: 'c', max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] }

async function streamed(api) {
  const final = await api.messages.stream(ask).finalMessage()
  return final.content[0].text
}

export default {
  package: '@anthropic-ai/sdk',
  about: 'streams through `fetchOptions.dispatcher` and proxies',
  own: true,
  checks: {
    'creates a message': async (t) => {
      const answer = await client(t, await t.serve(model), new Agent()).messages.create(ask)
      assert.equal(answer.content[0].text, 'hello')
    },
    streams: async (t) => {
      assert.equal(await streamed(client(t, await t.serve(model), new Agent())), words.join(''))
    },
    'streams over TLS and HTTP/2': async (t) => {
      const api = client(t, await t.serveH2(model), new Agent({ connect: { ca }, allowH2: true }))
      assert.equal(await streamed(api), words.join(''))
    },
    'streams through a tunnel of a proxy': async (t) => {
      const proxy = await t.proxy()
      const api = client(
        t,
        await t.serveTls(model),
        new ProxyAgent({ uri: proxy.origin, requestTls: { ca } }),
      )
      assert.equal(await streamed(api), words.join(''))
      assert.equal(proxy.asked.length, 1)
    },
    'streams through a proxy without TLS': async (t) => {
      const proxy = await t.proxy()
      const api = client(t, await t.serve(model), new ProxyAgent({ uri: proxy.origin, proxyTunnel: false }))
      assert.equal(await streamed(api), words.join(''))
      assert.equal(proxy.asked.length, 1)
    },
    'streams with the fetch of the runtime': async (t) => {
      const api = client(t, await t.serve(model), new Agent(), { fetch: globalThis.fetch })
      assert.equal(await streamed(api), words.join(''))
    },
    'streams three at a time': async (t) => {
      const api = client(t, await t.serve(model), new Agent({ connections: 1 }))
      assert.deepEqual(
        await Promise.all([streamed(api), streamed(api), streamed(api)]),
        Array(3).fill('tobeornot'),
      )
    },
    'stops a stream': async (t) => {
      let closed
      const gone = new Promise((resolve) => {
        closed = resolve
      })
      const at = await t.serve((request, response) => {
        request.socket.once('close', closed)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(event('message_start', { message: message([]) }))
      })
      const stream = client(t, at, new Agent()).messages.stream(ask)
      stream.once('connect', () => setImmediate(() => stream.abort()))
      assert.ok((await failure(stream.finalMessage())) instanceof Anthropic.APIUserAbortError)
      await gone
    },
    'fails after its timeout': async (t) => {
      const at = await t.serve((request) => request.resume())
      const error = await failure(client(t, at, new Agent(), { timeout: 100 }).messages.create(ask))
      assert.ok(error instanceof Anthropic.APIConnectionTimeoutError)
    },
    'repeats after overload': async (t) => {
      let calls = 0
      const at = await t.serve((request, response) => {
        if (++calls > 1) return model(request, response)
        request.resume()
        return sendJson(response, { type: 'error', error: { type: 'overloaded_error' } }, 529, {
          'retry-after-ms': '1',
        })
      })
      const answer = await client(t, at, new Agent(), { maxRetries: 1 }).messages.create(ask)
      assert.equal(answer.content[0].text, 'hello')
    },
    'repeats after a lost connection': async (t) => {
      let calls = 0
      const at = await t.serve((request, response) => {
        if (++calls > 1) return model(request, response)
        return request.socket.destroy()
      })
      const answer = await client(t, at, new Agent(), { maxRetries: 1 }).messages.create(ask)
      assert.equal(answer.content[0].text, 'hello')
    },
    'names a lost connection': async (t) => {
      const at = await t.serveSockets((socket) => socket.once('data', () => socket.end()))
      const error = await failure(client(t, at, new Agent()).messages.create(ask))
      assert.ok(error instanceof Anthropic.APIConnectionError)
      assert.equal(error.cause.cause.code, 'UND_ERR_SOCKET')
    },
  },
}
