// node:http and node:https with an Agent, which keeps connections unless each request needs a new one.
import http from 'node:http'
import https from 'node:https'
import { textOf } from './text.mjs'

export async function open({ origin, wire, ca, connections, method, headers, body, reset }) {
  const module = wire === 'h1-tls' ? https : http
  const agent = new module.Agent({
    keepAlive: reset !== true,
    // With a limit it still sends `connection: keep-alive`.
    maxSockets: reset === true ? Number.POSITIVE_INFINITY : connections,
    maxFreeSockets: connections,
    ca,
  })
  const { hostname, port } = new URL(origin)
  return {
    start(path, done) {
      const request = module.request({ hostname, port, path, method, headers, agent, ca }, (response) => {
        const chunks = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          if (response.statusCode !== 200) return done(new Error(`status ${response.statusCode}`))
          done(null, textOf(chunks))
        })
      })
      request.on('error', done)
      request.end(body)
    },
    close: () => agent.destroy(),
  }
}
