/** nginx: the common suites, few requests or streams on a connection, reloads, and its misuse of 103. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Client, H2CClient } from '../../src/index.ts'
import { HINT } from './backend.ts'
import { TRUST } from './certificate-files.ts'
import { assertAllSucceeded, assertNothingNeedless, Load } from './load.ts'
import { multiplexes, WIRES } from './real-server.ts'
import { reloadSuite } from './reload-suite.ts'
import { describeServer } from './running-server.ts'
import { nginx, REQUESTS_PER_CONNECTION } from './servers/nginx.ts'
import { tlsSuite } from './tls-suite.ts'
import { getSmall } from './transfers.ts'
import { webSocketSuite } from './websocket-suite.ts'
import { wireSuite } from './wire-suite.ts'

describeServer(nginx, (running) => {
  wireSuite(running)
  tlsSuite(running)
  webSocketSuite(running)

  const open = (wire: 'h1' | 'h2' | 'h2c', origin: string): Client =>
    running.keep(
      wire === 'h2c' ? new H2CClient(origin) : new Client(origin, wire === 'h2' ? { connect: TRUST } : {}),
    )

  for (const wire of ['h2', 'h2c', 'h1'] as const) {
    test(`${wire}: a server that takes ${REQUESTS_PER_CONNECTION} requests on each connection`, async () => {
      const client = open(wire, running.site.few[wire])
      let connections = 0
      client.on('connect', () => connections++)
      const load = await new Load(client, 10, 1_000).end()
      await client.close()
      assertNothingNeedless(load)
      assertAllSucceeded(load, 1_000)
      assert.ok(connections >= 45, `${connections} connections`)
    })
  }

  for (const wire of ['h2', 'h2c'] as const) {
    test(`${wire}: a server that takes three streams at a time; those too early are sent again`, async () => {
      const client = open(wire, running.site.narrow[wire])
      const load = await new Load(client, 60, 1_200).end()
      await client.close()
      assertAllSucceeded(load, 1_200)
    })
  }

  reloadSuite(running, { signal: 'SIGHUP', times: 4, drops: [] })

  describe('takes a 103 of the backend for the final response', () => {
    for (const wire of WIRES) {
      test(`${wire}: the client is not misled`, async (t) => {
        const client = running.open(wire)
        const hints: unknown[] = []
        const request = client.request({
          path: '/backend/early-hints',
          method: 'GET',
          onInfo: ({ headers }) => hints.push((headers as Record<string, unknown>)['link']),
        })
        try {
          // Over HTTP/1.1 the real response is sent as the body of the interim one, which is exactly where it belongs.
          const { statusCode, body } = await request
          assert.equal(statusCode, 200)
          assert.equal(await body.text(), 'ready')
          if (multiplexes(wire)) t.skip('this version does not')
          else assert.deepEqual(hints, [HINT])
        } catch (error) {
          if (!multiplexes(wire)) throw error
          // Over HTTP/2 it is sent in DATA frames, before any final head (RFC 9113 §8.1).
          const { code, cause } = error as Error & { code?: string }
          assert.equal(code, 'ERR_HTTP2_STREAM_ERROR', String(error))
          assert.match((cause as Error).message, /DATA before the head/)
          // Only that stream was at fault.
          await getSmall(client)
        }
        await client.destroy()
      })
    }
  })
})
