import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import replyFrom from '@fastify/reply-from'
import Fastify from 'fastify'
import FormData from 'form-data'
import { Agent, fetch, Pool } from 'undici'
import { ca, json, sendEvents, sendJson, text } from '../support.mjs'

/** A gateway whose only route passes every request on. */
async function gateway(t, options, replyOptions = {}) {
  const app = Fastify()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  await app.register(replyFrom, { destroyAgent: true, ...options })
  app.all('/*', (request, reply) => {
    reply.from(request.raw.url, typeof replyOptions === 'function' ? replyOptions(request) : replyOptions)
  })
  t.after(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

const echo = async (request, response) => {
  const { method, url, headers } = request
  sendJson(response, { method, url, headers, body: await text(request), version: request.httpVersion })
}

export default {
  package: '@fastify/reply-from',
  about: 'gateway: HTTP/1.1, HTTP/2, uploads, time limits, lost upstreams',
  checks: {
    'passes on a GET with its query and headers': async (t) => {
      const at = await gateway(t, { base: await t.serve(echo) })
      const { method, url, headers } = await (
        await fetch(`${at}/a/b?c=d`, { headers: { 'x-a': 'b' } })
      ).json()
      assert.deepEqual([method, url, headers['x-a']], ['GET', '/a/b?c=d', 'b'])
    },
    'passes on JSON': async (t) => {
      const at = await gateway(t, { base: await t.serve(echo) })
      const response = await fetch(at, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"a":1}',
      })
      assert.equal((await response.json()).body, '{"a":1}')
    },
    'passes on a form of form-data': async (t) => {
      const at = await gateway(t, { base: await t.serve(echo) })
      const form = new FormData()
      form.append('name', 'value')
      form.append('file', Buffer.alloc(300_000, 'f'), { filename: 'f.txt' })
      const response = await fetch(at, {
        method: 'POST',
        headers: form.getHeaders(),
        body: form.pipe(new PassThrough()),
        duplex: 'half',
      })
      const { body, headers } = await response.json()
      assert.match(headers['content-type'], /^multipart\/form-data; boundary=/)
      assert.match(body, /name="name"\r\n\r\nvalue\r\n/)
      assert.ok(body.length > 300_000)
    },
    'passes on an upload of unknown length': async (t) => {
      const at = await gateway(t, {
        base: await t.serve(async (request, response) => {
          let size = 0
          for await (const chunk of request) size += chunk.length
          response.end(`${size} ${request.headers['transfer-encoding']}`)
        }),
      })
      async function* pieces() {
        for (let i = 0; i < 40; i++) yield new Uint8Array(50_000)
      }
      const response = await fetch(at, { method: 'PUT', body: pieces(), duplex: 'half' })
      assert.equal(await response.text(), '2000000 chunked')
    },
    'passes back status, repeated headers and a large body': async (t) => {
      const at = await gateway(t, {
        base: await t.serve((_, response) => {
          response.writeHead(207, { 'set-cookie': ['a=1', 'b=2'], 'x-a': 'b' }).end('x'.repeat(3_000_000))
        }),
      })
      const response = await fetch(at)
      assert.equal(response.status, 207)
      assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
      assert.equal((await response.text()).length, 3_000_000)
    },
    'passes back a HEAD and a 204': async (t) => {
      const at = await gateway(t, {
        base: await t.serve((request, response) => {
          if (request.method === 'HEAD') response.setHeader('content-length', 77).end()
          else response.writeHead(204).end()
        }),
      })
      const head = await fetch(at, { method: 'HEAD' })
      assert.deepEqual([head.status, head.headers.get('content-length')], [200, '77'])
      assert.equal((await fetch(at)).status, 204)
    },
    'passes back events as they come': async (t) => {
      let more
      const base = await t.serve(async (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
        await new Promise((resolve) => {
          more = resolve
        })
        response.end('data: 2\n\n')
      })
      const response = await fetch(await gateway(t, { base }))
      let read = ''
      for await (const chunk of response.body) {
        read += Buffer.from(chunk).toString()
        more()
      }
      assert.equal(read, 'data: 1\n\ndata: 2\n\n')
    },
    'rewrites headers on the way there and back': async (t) => {
      const at = await gateway(t, { base: await t.serve(echo) }, () => ({
        rewriteRequestHeaders: (_request, headers) => ({ ...headers, 'x-there': 'yes', cookie: undefined }),
        rewriteHeaders: (headers) => ({ ...headers, 'x-back': 'yes' }),
        queryString: { k: 'v' },
      }))
      const response = await fetch(`${at}/a?dropped=1`, { headers: { cookie: 'a=b' } })
      const { url, headers } = await response.json()
      assert.equal(response.headers.get('x-back'), 'yes')
      assert.deepEqual([url, headers['x-there'], headers.cookie], ['/a?k=v', 'yes', undefined])
    },
    'drops headers of the connection': async (t) => {
      const base = await t.serve(echo)
      const app = Fastify()
      await app.register(replyFrom, { base, destroyAgent: true })
      app.get('/', (_, reply) => reply.from('/'))
      t.after(() => app.close())
      const { headers } = (
        await app.inject({ url: '/', headers: { connection: 'close, x-hop', 'x-hop': '1', 'x-end': '2' } })
      ).json()
      assert.deepEqual([headers['x-hop'], headers['x-end']], [undefined, '2'])
    },
    'answers 504 if the upstream is silent': async (t) => {
      const base = await t.serve((request) => request.resume())
      const at = await gateway(t, { base, undici: { headersTimeout: 100 } })
      assert.equal((await fetch(at)).status, 504)
    },
    'answers 504 after the limit of one reply': async (t) => {
      const base = await t.serve((request) => request.resume())
      const at = await gateway(t, { base }, { timeout: 100 })
      assert.equal((await fetch(at)).status, 504)
    },
    'breaks off a body that stalls': async (t) => {
      const base = await t.serve((_, response) =>
        response.writeHead(200, { 'content-length': 10 }).write('half'),
      )
      const at = await gateway(t, { base, undici: { bodyTimeout: 100 } })
      const response = await fetch(at)
      await assert.rejects(response.text())
    },
    'answers 503 or 500 if nothing listens': async (t) => {
      const at = await gateway(t, { base: await t.nowhere() })
      assert.ok([500, 502, 503].includes((await fetch(at)).status))
    },
    'answers 500 if the upstream resets': async (t) => {
      const base = await t.serveSockets((socket) => socket.once('data', () => socket.resetAndDestroy()))
      const at = await gateway(t, { base, retriesCount: 0 }, { retriesCount: 0 })
      assert.ok((await fetch(at, { method: 'POST', body: 'x' })).status >= 500)
    },
    'breaks off a body whose upstream is lost': async (t) => {
      const base = await t.serve((_, response) => {
        response.writeHead(200, { 'content-length': 10 }).write('half', () => response.socket.destroy())
      })
      const response = await fetch(await gateway(t, { base }))
      await assert.rejects(response.text())
    },
    'repeats a request after a lost connection': async (t) => {
      let calls = 0
      const base = await t.serve((request, response) => {
        if (++calls === 1) request.socket.destroy()
        else response.end('second')
      })
      const at = await gateway(t, { base }, { retriesCount: 1 })
      assert.equal(await (await fetch(at)).text(), 'second')
    },
    'repeats a request after 503': async (t) => {
      let calls = 0
      const base = await t.serve((_, response) => {
        if (++calls === 1) response.writeHead(503, { 'retry-after': '0' }).end()
        else response.end('second')
      })
      const at = await gateway(t, { base })
      assert.equal(await (await fetch(at)).text(), 'second')
    },
    'ends the upstream request if the caller leaves': async (t) => {
      const gone = Promise.withResolvers?.() ?? withResolvers()
      const base = await t.serve((request, response) => {
        response.writeHead(200).write('x')
        request.socket.once('close', gone.resolve)
      })
      const aborter = new AbortController()
      const response = await fetch(await gateway(t, { base }), { signal: aborter.signal })
      aborter.abort()
      await assert.rejects(response.text())
      await gone.promise
    },
    'takes turns among several upstreams': async (t) => {
      const upstream = (name) => t.serve((_, response) => response.end(name))
      const at = await gateway(t, { base: [await upstream('a'), await upstream('b')] })
      const seen = new Set()
      for (let i = 0; i < 8; i++) seen.add(await (await fetch(at)).text())
      assert.deepEqual([...seen].sort(), ['a', 'b'])
    },
    'takes an Agent': async (t) => {
      const agent = new Agent({ connections: 1 })
      const at = await gateway(t, { base: await t.serve(echo), undici: agent })
      assert.equal((await (await fetch(`${at}/x`)).json()).url, '/x')
    },
    'takes a Pool': async (t) => {
      const base = await t.serve(echo)
      const at = await gateway(t, { base, undici: new Pool(base, { connections: 2 }) })
      assert.equal((await (await fetch(`${at}/x`)).json()).url, '/x')
    },
    'goes through a proxy': async (t) => {
      const proxy = await t.proxy()
      const base = await t.serve(echo)
      const at = await gateway(t, { base, undici: { proxy: proxy.origin } })
      assert.equal((await (await fetch(`${at}/x`)).json()).url, '/x')
      assert.equal(proxy.asked.length, 1)
    },
    'goes to a Unix socket': async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'reply-from-'))
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      const path = join(folder, 's')
      await t.serveUnix(path, echo)
      const at = await gateway(t, { base: `unix+http://${encodeURIComponent(path)}` })
      assert.equal((await (await fetch(`${at}/x`)).json()).url, '/x')
    },
    'goes to an upstream with TLS': async (t) => {
      const at = await gateway(t, { base: await t.serveTls(echo), undici: { connect: { ca } } })
      assert.equal((await (await fetch(`${at}/x`)).json()).url, '/x')
    },
    'goes to an upstream with HTTP/2': async (t) => {
      const at = await gateway(t, { base: await t.serveH2(echo), undici: { connect: { ca }, allowH2: true } })
      const response = await fetch(`${at}/x`, { method: 'POST', body: 'over h2' })
      const { url, body, version } = await response.json()
      assert.deepEqual([url, body, version], ['/x', 'over h2', '2.0'])
    },
    'passes on many at a time over HTTP/2': async (t) => {
      const base = await t.serveH2(async (request, response) => response.end(await text(request)))
      const at = await gateway(t, { base, undici: { connect: { ca }, allowH2: true } })
      const sizes = Array.from({ length: 30 }, (_, i) => i * 1_000)
      const texts = await Promise.all(
        sizes.map(async (size) => (await fetch(at, { method: 'POST', body: 'x'.repeat(size) })).text()),
      )
      assert.deepEqual(
        texts.map(({ length }) => length),
        sizes,
      )
    },
    'answers 504 if the upstream is silent over HTTP/2': async (t) => {
      const base = await t.serveH2((request) => request.resume())
      const undici = { connect: { ca }, allowH2: true, headersTimeout: 100 }
      assert.equal((await fetch(await gateway(t, { base, undici }))).status, 504)
    },
    'breaks off a body whose upstream is lost over HTTP/2': async (t) => {
      const base = await t.serveH2((_, response) => {
        response.writeHead(200, { 'content-length': 10 })
        response.write('half', () => response.stream.session.destroy())
      })
      const at = await gateway(t, { base, undici: { connect: { ca }, allowH2: true } })
      const response = await fetch(at)
      await assert.rejects(response.text())
    },
    'goes on over HTTP/2 after the loss of its upstream': async (t) => {
      let calls = 0
      const base = await t.serveH2((_, response) => {
        if (++calls === 1) response.stream.session.destroy()
        else response.end('second')
      })
      const undici = { connect: { ca }, allowH2: true }
      const at = await gateway(t, { base, undici, retriesCount: 0 }, { retriesCount: 0 })
      assert.ok((await fetch(at, { method: 'POST', body: 'x' })).status >= 500)
      assert.equal(await (await fetch(at, { method: 'POST', body: 'x' })).text(), 'second')
    },
    'passes on a form over HTTP/2': async (t) => {
      const base = await t.serveH2(echo)
      const at = await gateway(t, { base, undici: { connect: { ca }, allowH2: true } })
      const form = new FormData()
      form.append('file', Buffer.alloc(300_000, 'f'), { filename: 'f.txt' })
      const response = await fetch(at, {
        method: 'POST',
        headers: form.getHeaders(),
        body: form.pipe(new PassThrough()),
        duplex: 'half',
      })
      const { body, version } = await response.json()
      assert.match(body, /filename="f.txt"/)
      assert.ok(body.length > 300_000)
      assert.equal(version, '2.0')
    },
    'calls onResponse and onError': async (t) => {
      const base = await t.serve(echo)
      const bad = await t.nowhere()
      const app = Fastify()
      await app.register(replyFrom, { destroyAgent: true })
      app.get('/good', (_request, reply) =>
        reply.from(`${base}/x`, {
          onResponse: async (_, answer, response) =>
            answer.send({ seen: (await json(response.stream ?? response)).url }),
        }),
      )
      app.get('/bad', (_request, reply) =>
        reply.from(bad, { onError: (answer, { error }) => answer.code(418).send({ code: error.code }) }),
      )
      t.after(() => app.close())
      assert.deepEqual((await app.inject('/good')).json(), { seen: '/x' })
      const refused = await app.inject('/bad')
      assert.equal(refused.statusCode, 418)
      assert.match(refused.json().code, /ECONNREFUSED|FST_REPLY_FROM/)
    },
    'streams a long event stream': async (t) => {
      const base = await t.serve((_, response) =>
        sendEvents(
          response,
          Array.from({ length: 200 }, (_value, i) => `data: ${i}\n\n`),
        ),
      )
      const read = await (await fetch(await gateway(t, { base }))).text()
      assert.equal(read.split('\n\n').length, 201)
    },
  },
}

function withResolvers() {
  const parts = {}
  parts.promise = new Promise((resolve) => {
    parts.resolve = resolve
  })
  return parts
}
