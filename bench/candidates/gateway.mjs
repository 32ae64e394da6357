// A gateway on node:http's server: each request is sent on to the origin with its fields and its body, and the response
// is passed back in the same way, as @fastify/reply-from does it. What a client does with the fields of one connection
// (RFC 9110 §7.6.1) is not part of the measurement: they are left out here, the same for all candidates.
import http from 'node:http'
import { exported, loadLibrary } from './dispatcher.mjs'

const OF_ONE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function passedOn(headers, host) {
  const fields = {}
  for (const name in headers) {
    if (!OF_ONE_CONNECTION.has(name)) fields[name] = headers[name]
  }
  if (host !== undefined) fields.host = host
  return fields
}

const bodyOf = (request) => (request.method === 'GET' ? undefined : request)

export async function openDispatcher(target) {
  const { origin, connections } = target
  const pool = new (exported(await loadLibrary(target), 'Pool'))(origin, { connections })
  const { host } = new URL(origin)
  return {
    async forward(request, response) {
      const { statusCode, headers, body } = await pool.request({
        path: request.url,
        method: request.method,
        headers: passedOn(request.headers, host),
        body: bodyOf(request),
      })
      response.writeHead(statusCode, passedOn(headers))
      body.on('error', (error) => response.destroy(error))
      body.pipe(response)
    },
    close: () => pool.destroy(),
  }
}

export async function openNodeHttp({ origin, connections }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections })
  const { hostname, port, host } = new URL(origin)
  return {
    forward(request, response) {
      return new Promise((resolve, reject) => {
        const headers = passedOn(request.headers, host)
        const options = { hostname, port, path: request.url, method: request.method, headers, agent }
        const upstream = http.request(options, (answer) => {
          response.writeHead(answer.statusCode, passedOn(answer.headers))
          answer.on('error', (error) => response.destroy(error))
          answer.pipe(response)
          resolve()
        })
        upstream.on('error', reject)
        const body = bodyOf(request)
        if (body === undefined) upstream.end()
        else body.pipe(upstream)
      })
    },
    close: () => agent.destroy(),
  }
}

/** The server without a client: it answers with what the origin's first response was. The limit of every gateway. */
export async function openAlone({ origin, path }) {
  const answer = await fetch(`${origin}${path}`)
  const fields = passedOn(Object.fromEntries(answer.headers))
  const text = await answer.text()
  return {
    async forward(request, response) {
      passedOn(request.headers, 'origin')
      if (bodyOf(request) !== undefined) for await (const _ of request);
      response.writeHead(200, passedOn(fields))
      response.end(text)
    },
    close() {},
  }
}
