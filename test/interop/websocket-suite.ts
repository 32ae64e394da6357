/** WebSockets to the backend through a server, over every wire on which it forwards them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Agent, Client, type CloseEvent, type Dispatcher, WebSocket } from '../../src/index.ts'
import { TRUST } from './certificate-files.ts'
import { digest, pattern } from './content.ts'
import { multiplexes, type Wire } from './real-server.ts'
import type { RunningServer } from './running-server.ts'
import { WatchedConnector } from './watched-connector.ts'

const MESSAGES = ['hello', 'ünïcödé', 'x'.repeat(70_000)] as const
const BINARY = pattern(2 * 1024 * 1024)

export function webSocketSuite(running: RunningServer): void {
  const { server } = running
  describe('WebSocket', () => {
    for (const wire of server.webSocket) {
      test(`${wire}: text and binary messages come back, and the close is clean`, async () => {
        const secure = wire === 'h1+tls' || wire === 'h2'
        const connector = new WatchedConnector({
          ...TRUST,
          allowH2: wire !== 'h1+tls',
          preferH2: server.followsClient ?? false,
          useH2c: wire === 'h2c',
        })
        const origin = originOf(running, wire)
        const client = running.keep(
          new Client(origin, { connect: connector.connect, useH2c: wire === 'h2c' }),
        )
        await converse(origin, client)
        // It used that wire and did not fall back to another one.
        assert.equal(connector.sockets.length, 1)
        if (secure) assert.equal(connector.agreements[0]?.protocol, multiplexes(wire) ? 'h2' : 'http/1.1')
        await client.destroy()
      })
    }

    if (!server.webSocket.includes('h2')) {
      test('an Agent goes back to HTTP/1.1 where HTTP/2 does not take them', async () => {
        const agent = running.keep(new Agent({ connect: TRUST }))
        const { body } = await agent.request({ origin: running.site.tls, path: '/small.txt', method: 'GET' })
        await body.dump()
        await converse(running.site.tls, agent)
        await agent.destroy()
      })
    }
  })
}

function originOf({ site }: RunningServer, wire: Wire): string {
  if (wire === 'h1') return site.h1
  return wire === 'h2c' ? site.h2c : site.tls
}

/** Opens a WebSocket to the backend and talks. */
export async function converse(origin: string, dispatcher: Dispatcher): Promise<void> {
  const socket = new WebSocket(`${origin.replace(/^http/, 'ws')}/backend/socket`, {
    protocols: ['chat'],
    dispatcher,
  })
  socket.binaryType = 'arraybuffer'
  const failed = once(socket, 'error').then(([event]) => {
    throw (event as { error: Error }).error
  })
  const next = async (event: string): Promise<unknown> => {
    const [value] = (await Promise.race([once(socket, event), failed])) as [unknown]
    return value
  }
  const hear = async (): Promise<unknown> => ((await next('message')) as { data: unknown }).data

  await next('open')
  assert.equal(socket.protocol, 'chat')
  for (const message of MESSAGES) {
    const answer = hear()
    socket.send(message)
    assert.equal(await answer, message)
  }
  const answer = hear()
  socket.send(BINARY)
  assert.equal(digest(new Uint8Array((await answer) as ArrayBuffer)), digest(BINARY))

  const closed = next('close')
  socket.close(1000, 'enough')
  const { code, reason, wasClean } = (await closed) as CloseEvent
  assert.deepEqual({ code, reason, wasClean }, { code: 1000, reason: 'enough', wasClean: true })
}
