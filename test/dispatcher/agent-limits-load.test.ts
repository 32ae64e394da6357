/** The limits of an agent over all origins, under load: none is starved, and no server sees more than allowed. */
import assert from 'node:assert/strict'
import http from 'node:http'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { test } from 'node:test'
import { Agent } from '../../src/index.ts'

const ORIGINS = 50
const REQUESTS_EACH = 100
const MAX_CONNECTIONS = 20

/** If all take turns, each origin waits until every other has connected once. */
const FAIR_SHARE = ORIGINS - 1

test('5,000 requests to 50 origins over 20 connections', async (t) => {
  let seen = 0
  let mostSeen = 0
  const servers = await Promise.all(
    Array.from({ length: ORIGINS }, async () => {
      const server = http.createServer((_request, response) => void setImmediate(() => response.end('ok')))
      server.on('connection', (socket) => {
        seen++
        const leave = (): void => {
          socket.off('end', leave).off('close', leave)
          seen--
        }
        socket.on('end', leave).on('close', leave)
        // The end of another may come with the same poll of the event loop.
        setImmediate(() => {
          mostSeen = Math.max(mostSeen, seen)
        })
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  t.after(() => Promise.all(servers.map((server: Server) => new Promise((done) => server.close(done)))))
  const origins = servers.map((server) => ({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    left: REQUESTS_EACH,
    open: 0,
    /** How many connections there had been when it began to wait for its only one. */
    waitsSince: 0,
    longestWait: 0,
  }))

  let open = 0
  let mostOpen = 0
  let opened = 0
  const connect = net.connect as (...args: unknown[]) => Socket
  t.mock.method(net, 'connect', (...args: unknown[]) => {
    const { port } = args[0] as { port: string }
    const origin = origins.find(({ url }) => url.endsWith(`:${port}`))!
    if (origin.open === 0) origin.longestWait = Math.max(origin.longestWait, opened - origin.waitsSince)
    opened++
    origin.open++
    mostOpen = Math.max(mostOpen, ++open)
    return connect(...args).once('close', () => {
      open--
      if (--origin.open === 0) origin.waitsSince = opened
    })
  })

  const agent = new Agent({ maxConnections: MAX_CONNECTIONS })
  t.after(() => agent.destroy())
  const fetchAll = origins.flatMap((origin) =>
    Array.from({ length: REQUESTS_EACH }, async () => {
      const { body } = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
      assert.equal(await body.text(), 'ok')
      origin.left--
    }),
  )
  await Promise.all(fetchAll)
  assert.deepEqual(
    origins.filter(({ left }) => left > 0),
    [],
  )
  assert.equal(mostOpen, MAX_CONNECTIONS)
  assert.ok(mostSeen <= MAX_CONNECTIONS, `the servers have seen ${mostSeen} sockets at once`)
  const longest = Math.max(...origins.map(({ longestWait }) => longestWait))
  assert.ok(longest <= 3 * FAIR_SHARE, `an origin has waited for ${longest} connections of others`)
  await agent.close()
  assert.equal(open, 0)
  assert.deepEqual(agent.stats, {})
})
