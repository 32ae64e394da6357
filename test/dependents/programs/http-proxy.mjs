import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import proxy from '@fastify/http-proxy'
import multipart from '@fastify/multipart'
import Fastify from 'fastify'
import { fetch, WebSocket } from 'undici'
import { WebSocketServer } from 'ws'
import { ca, sendJson, text } from '../support.mjs'

async function gateway(t, options) {
  const app = Fastify()
  await app.register(proxy, { destroyAgent: true, ...options })
  t.after(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

const echo = async (request, response) => {
  sendJson(response, {
    method: request.method,
    url: request.url,
    body: await text(request),
    version: request.httpVersion,
  })
}

export default {
  package: '@fastify/http-proxy',
  about: 'reverse proxy: prefixes, WebSocket, HTTP/2',
  undici: '@fastify/reply-from',
  checks: {
    'rewrites a prefix': async (t) => {
      const at = await gateway(t, { upstream: await t.serve(echo), prefix: '/api', rewritePrefix: '/v1' })
      assert.equal((await (await fetch(`${at}/api/users?x=1`)).json()).url, '/v1/users?x=1')
    },
    'passes on every method': async (t) => {
      const at = await gateway(t, { upstream: await t.serve(echo) })
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const body = method === 'GET' || method === 'OPTIONS' ? undefined : method
        const answer = await (await fetch(at, { method, body })).json()
        assert.deepEqual([answer.method, answer.body], [method, body ?? ''])
      }
    },
    'has two upstreams side by side': async (t) => {
      const app = Fastify()
      await app.register(proxy, { upstream: await t.serve((_, response) => response.end('a')), prefix: '/a' })
      await app.register(proxy, { upstream: await t.serve((_, response) => response.end('b')), prefix: '/b' })
      t.after(() => app.close())
      const at = await app.listen({ port: 0, host: '127.0.0.1' })
      assert.equal(await (await fetch(`${at}/a`)).text(), 'a')
      assert.equal(await (await fetch(`${at}/b`)).text(), 'b')
    },
    'asks a preHandler first': async (t) => {
      const at = await gateway(t, {
        upstream: await t.serve(echo),
        preHandler: async (request) => {
          if (!request.headers.authorization) throw Object.assign(new Error('no'), { statusCode: 401 })
        },
      })
      assert.equal((await fetch(at)).status, 401)
      assert.equal((await fetch(at, { headers: { authorization: 'x' } })).status, 200)
    },
    'rewrites a location': async (t) => {
      const upstream = await t.serve((_, response) => response.writeHead(302, { location: '/v1/x' }).end())
      const at = await gateway(t, { upstream, prefix: '/api', rewritePrefix: '/v1' })
      const response = await fetch(`${at}/api/old`, { redirect: 'manual' })
      assert.equal(response.headers.get('location'), '/api/x')
    },
    'passes on a large upload and a large download': async (t) => {
      const upstream = await t.serve((request, response) => request.pipe(response))
      const at = await gateway(t, { upstream, proxyPayloads: true })
      const body = Buffer.alloc(5_000_000, 'z')
      const response = await fetch(at, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/octet-stream' },
      })
      assert.equal((await response.arrayBuffer()).byteLength, body.length)
    },
    'passes on a form': async (t) => {
      const at = await gateway(t, { upstream: await t.serve(echo) })
      const form = new FormData()
      form.append('file', new Blob(['content']), 'a.txt')
      const { body } = await (await fetch(at, { method: 'POST', body: form })).json()
      assert.match(body, /filename="a.txt"/)
    },
    'passes on the files of a form to a server that reads them': async (t) => {
      const upstream = Fastify()
      await upstream.register(multipart)
      upstream.post('/', async (request) => {
        const sizes = {}
        for await (const { filename, file } of request.files()) sizes[filename] = (await text(file)).length
        return sizes
      })
      t.after(() => upstream.close())
      const at = await gateway(t, { upstream: await upstream.listen({ port: 0, host: '127.0.0.1' }) })
      const form = new FormData()
      form.append('one', new Blob(['x'.repeat(200_000)]), 'one.txt')
      form.append('two', new Blob(['content']), 'two.txt')
      const response = await fetch(at, { method: 'POST', body: form })
      assert.deepEqual(await response.json(), { 'one.txt': 200_000, 'two.txt': 7 })
    },
    'speaks HTTP/2 to the upstream': async (t) => {
      const at = await gateway(t, {
        upstream: await t.serveH2(echo),
        undici: { connect: { ca }, allowH2: true },
      })
      assert.equal((await (await fetch(`${at}/x`)).json()).version, '2.0')
    },
    'opens a WebSocket for a client of ours': async (t) => {
      const server = http.createServer()
      const sockets = new WebSocketServer({ server })
      sockets.on('connection', (socket) =>
        socket.on('message', (data, binary) => socket.send(data, { binary })),
      )
      const at = await gateway(t, { upstream: await t.listen(server), websocket: true })
      const socket = new WebSocket(at.replace('http', 'ws'))
      await once(socket, 'open')
      socket.send('hello')
      const [{ data }] = await once(socket, 'message')
      assert.equal(data, 'hello')
      socket.close(1000)
      const [{ code }] = await once(socket, 'close')
      assert.equal(code, 1000)
    },
    'closes a WebSocket whose upstream is lost': async (t) => {
      const server = http.createServer()
      const sockets = new WebSocketServer({ server })
      sockets.on('connection', (socket) => socket.on('message', () => socket.terminate()))
      const at = await gateway(t, { upstream: await t.listen(server), websocket: true })
      const socket = new WebSocket(at.replace('http', 'ws'))
      await once(socket, 'open')
      socket.send('hello')
      const [{ wasClean, code }] = await once(socket, 'close')
      assert.ok(!wasClean || code !== 1000, `${wasClean} ${code}`)
    },
    'answers 504 after a time limit over HTTP/2': async (t) => {
      const upstream = await t.serveH2((request) => request.resume())
      const undici = { connect: { ca }, allowH2: true, headersTimeout: 100 }
      assert.equal((await fetch(await gateway(t, { upstream, undici }))).status, 504)
    },
    'answers 504 after a time limit': async (t) => {
      const upstream = await t.serve((request) => request.resume())
      const at = await gateway(t, { upstream, undici: { headersTimeout: 100 } })
      assert.equal((await fetch(at)).status, 504)
    },
    'survives the loss of its upstream': async (t) => {
      let calls = 0
      const upstream = await t.serve((request, response) => {
        if (++calls % 2 === 1) request.socket.destroy()
        else response.end('alive')
      })
      const at = await gateway(t, { upstream, replyOptions: { retriesCount: 0 } })
      assert.ok((await fetch(at, { method: 'POST', body: 'x' })).status >= 500)
      assert.equal(await (await fetch(at, { method: 'POST', body: 'x' })).text(), 'alive')
    },
  },
}
