/** lighttpd: the common suites, and its treatment of trailers and 103. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { describe, test } from 'node:test'
import { Client } from '../../src/index.ts'
import { TRUST } from './certificate-files.ts'
import { WIRES } from './real-server.ts'
import { describeServer } from './running-server.ts'
import { lighttpd } from './servers/lighttpd.ts'
import { tlsSuite } from './tls-suite.ts'
import { getSmall } from './transfers.ts'
import { WatchedConnector } from './watched-connector.ts'
import { webSocketSuite } from './websocket-suite.ts'
import { wireSuite } from './wire-suite.ts'

/** RFC 9113 §7. */
const PROTOCOL_ERROR = 1

describeServer(lighttpd, (running) => {
  wireSuite(running)
  tlsSuite(running)
  webSocketSuite(running)

  test('takes what the client names first: HTTP/1.1, unless it prefers HTTP/2', async () => {
    for (const preferH2 of [false, true]) {
      const connector = new WatchedConnector({ ...TRUST, preferH2 })
      const client = running.keep(new Client(running.site.tls, { connect: connector.connect }))
      await getSmall(client)
      assert.equal(connector.agreements[0]?.protocol, preferH2 ? 'h2' : 'http/1.1')
      await client.close()
    }
  })

  // It appends the backend's trailer to the head, after an extra carriage return.
  describe('a head with CR CR LF, made of trailers', () => {
    for (const wire of WIRES) {
      test(`${wire}: is refused, and says why`, async (t) => {
        if (!(await rawAnswer(running.site.h1, '/backend/trailers')).includes('\r\r\n')) {
          t.skip('this version does not send it')
          return
        }
        const client = running.open(wire)
        const request = client.request({ path: '/backend/trailers', method: 'GET' })
        await assert.rejects(
          request,
          wire === 'h1' || wire === 'h1+tls'
            ? { name: 'HTTPParserError', code: 'HPE_LF_EXPECTED', path: '/backend/trailers' }
            : { code: 'ERR_HTTP2_STREAM_ERROR', http2ErrorCode: PROTOCOL_ERROR, path: '/backend/trailers' },
        )
        await getSmall(client)
        await client.destroy()
      })
    }
  })

  describe('a 103 with a name in upper case', () => {
    for (const wire of ['h2', 'h2c'] as const) {
      test(`${wire}: is refused, and says why`, async (t) => {
        const client = running.open(wire)
        const hints: unknown[] = []
        const request = client.request({
          path: '/backend/early-hints',
          method: 'GET',
          onInfo: (info) => hints.push(info),
        })
        try {
          const { body } = await request
          assert.equal(await body.text(), 'ready')
          t.skip('this version does not send it')
        } catch (error) {
          const { code, cause } = error as Error & { code?: string }
          assert.equal(code, 'ERR_HTTP2_STREAM_ERROR')
          assert.match((cause as Error).message, /upper|name/i)
          assert.deepEqual(hints, [])
        }
        await getSmall(client)
        await client.destroy()
      })
    }
  })
})

/** The raw bytes. */
async function rawAnswer(origin: string, path: string): Promise<string> {
  const { hostname, port, host } = new URL(origin)
  const socket = net.connect(Number(port), hostname)
  socket.setEncoding('latin1').end(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
  let text = ''
  socket.on('data', (piece: string) => {
    text += piece
  })
  await once(socket, 'close')
  return text
}
