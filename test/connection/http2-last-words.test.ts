/** The peer learns why a connection ends, even if output leaves later than the call that writes it. */
import assert from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { buildConnector, Client, type Dispatcher } from '../../src/index.ts'
import { GOAWAY, NO_ERROR, PROTOCOL_ERROR, SETTINGS } from '../../src/protocol/http2/constants.ts'
import { authority } from '../support/certificates.ts'
import { frameBytes } from '../support/frame-peer.ts'
import { type H2ServerOptions, startH2Server } from '../support/h2-server.ts'

const CONNECTIONS = 40

/** RFC 9113 §6.5: SETTINGS on a stream is a connection error. */
const ILLEGAL = frameBytes(SETTINGS, 0, 1, new Uint8Array(0))

const WIRES: readonly (readonly [string, H2ServerOptions])[] = [
  ['h2+tls', { alpn: ['h2'] }],
  ['h2c', {}],
]

for (const [name, options] of WIRES) {
  describe(`the last words over ${name}`, () => {
    for (const when of ['at once', 'after a request', 'during an upload'] as const) {
      test(`a peer that breaks the protocol ${when} is told so, every time`, async (t) => {
        const server = await startH2Server(t, options)
        for (let i = 0; i < CONNECTIONS; i++) {
          const client = new Client(server.url, { useH2c: true, connect: { ca: authority } })
          const body = when === 'during an upload' ? Buffer.alloc(1 << 20) : null
          const answer = assert.rejects(client.request({ path: '/', method: 'PUT', body }))
          const peer = await server.accept()
          if (when !== 'at once') await peer.request()
          if (body !== null) peer.windowUpdate(0, body.length).windowUpdate(1, body.length)
          peer.socket.write(ILLEGAL)
          const { payload } = await peer.frame(GOAWAY)
          assert.equal(payload.readUInt32BE(4), PROTOCOL_ERROR)
          await answer
          await client.destroy()
        }
      })
    }

    test('a peer is told, though a request that has not left yet must not leave any more', async (t) => {
      const server = await startH2Server(t, options)
      const client = new Client(server.url, { useH2c: true, connect: { ca: authority } })
      t.after(() => client.destroy())
      const second = new Promise((resolve, reject) => {
        client.dispatch(
          { path: '/first', method: 'GET' },
          {
            onRequestStart: () => {},
            onResponseStart: () => {},
            onResponseData: () => {},
            onResponseEnd: () =>
              client.request({ path: '/second', method: 'POST', body: 'x' }).then(resolve, reject),
            onResponseError: (_controller, error) => reject(error),
          },
        )
      })
      const peer = await server.accept()
      const { id } = await peer.request()
      peer.together(() => {
        peer.respond(id)
        peer.socket.write(ILLEGAL)
      })
      assert.equal((await peer.frame(GOAWAY)).payload.readUInt32BE(4), PROTOCOL_ERROR)
      const next = await server.accept()
      const request = await next.request()
      assert.equal(request.headers[':path'], '/second')
      assert.equal(peer.requests.length, 1)
      next.respond(request.id)
      const { body } = (await second) as Dispatcher.ResponseData
      assert.equal(await body.text(), 'ok')
    })

    /** A client in the middle of an upload that its peer does not read. `answer` resolves when the request has failed. */
    async function stalled(t: TestContext) {
      const server = await startH2Server(t, options)
      const open = buildConnector({ ca: authority, allowH2: true })
      let ours: Duplex | null = null
      const client = new Client(server.url, {
        useH2c: true,
        connect: (target, callback) => {
          ours = open(target, callback)
        },
      })
      const body = Buffer.alloc(32 << 20)
      const answer = assert.rejects(client.request({ path: '/', method: 'PUT', body }))
      const peer = await server.accept()
      await peer.request()
      peer.socket.pause()
      peer.windowUpdate(0, body.length).windowUpdate(1, body.length)
      while (!ours!.writableNeedDrain) await turn()
      return { client, peer, ours: ours! as Duplex, answer }
    }

    test('a peer that reads nothing for a while is told, too', async (t) => {
      const { client, peer, answer } = await stalled(t)
      peer.socket.write(ILLEGAL)
      await answer
      peer.socket.resume()
      const { payload } = await peer.frame(GOAWAY)
      assert.equal(payload.readUInt32BE(4), PROTOCOL_ERROR)
      await client.destroy()
    })

    test('a peer that never reads does not hold up destroy()', async (t) => {
      const { client, ours, answer } = await stalled(t)
      await client.destroy()
      assert.equal(ours.destroyed, true)
      await answer
    })

    test('a peer is told that the client closes, every time', async (t) => {
      const server = await startH2Server(t, options)
      for (let i = 0; i < CONNECTIONS; i++) {
        const client = new Client(server.url, { useH2c: true, connect: { ca: authority } })
        const answer = client.request({ path: '/', method: 'GET' })
        const peer = await server.accept()
        peer.respond((await peer.request()).id)
        await (await answer).body.dump()
        const closed = client.close()
        const { payload } = await peer.frame(GOAWAY)
        assert.equal(payload.readUInt32BE(4), NO_ERROR)
        await closed
      }
    })
  })
}
