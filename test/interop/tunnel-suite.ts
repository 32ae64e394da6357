/** The suite for a tunnel through any forward proxy. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Client } from '../../src/index.ts'
import type { Backend } from './backend.ts'
import { SMALL } from './content.ts'
import { type Credentials, proxyAuthorization, TunnelRefused, tunnelClient } from './forward-proxy.ts'
import { assertAllSucceeded, Load } from './load.ts'
import { freePort } from './ports.ts'
import { echoAll, getSmall } from './transfers.ts'

export interface TunnelStage {
  /** A client of the proxy. */
  open(): Client
  /** With TLS. */
  secureOrigin(): string
  backend(): Backend
  keep<T extends { destroy(): Promise<unknown> }>(client: T): T
  /** Null if the proxy needs no credentials. */
  readonly credentials: Credentials | null
}

export function tunnelSuite(stage: TunnelStage): void {
  const { credentials } = stage
  const headers = credentials === null ? {} : proxyAuthorization(credentials)

  for (const protocol of ['h2', 'http/1.1'] as const) {
    test(`${protocol} with TLS inside a tunnel`, async () => {
      const proxy = stage.open()
      const client = stage.keep(
        tunnelClient(stage.secureOrigin(), proxy, headers, { allowH2: protocol === 'h2' }),
      )
      await getSmall(client)
      await echoAll(client, '/')
      assertAllSucceeded(await new Load(client, 20, 200).end(), 200)
      await client.close()
      await proxy.close()
    })
  }

  test('a tunnel carries plain bytes both ways', async () => {
    const proxy = stage.open()
    const { port } = stage.backend()
    const { statusCode, socket } = await proxy.connect({ path: `127.0.0.1:${port}`, headers })
    assert.equal(statusCode, 200)
    const ended = once(socket, 'end')
    // Over HTTP/2 a proxy may reset the stream after its end, while our side is still open.
    socket.on('error', () => {})
    socket.write('GET /small.txt HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    const parts: Buffer[] = []
    socket.on('data', (part: Buffer) => parts.push(part))
    await ended
    const answer = Buffer.concat(parts)
    assert.match(answer.toString('latin1'), /^HTTP\/1\.1 200 /)
    assert.deepEqual(answer.subarray(-SMALL.length), SMALL)
    socket.destroy()
    await proxy.close()
  })

  test('a target that nobody listens at: the status tells', async () => {
    const proxy = stage.open()
    const client = stage.keep(tunnelClient(`https://127.0.0.1:${await freePort()}`, proxy, headers))
    await assert.rejects(client.request({ path: '/', method: 'GET' }), (error: TunnelRefused) => {
      assert.ok(error instanceof TunnelRefused, String(error))
      assert.ok(error.statusCode >= 500, String(error.statusCode))
      return true
    })
    await proxy.destroy()
  })

  if (credentials !== null) refusals(stage, credentials)
}

function refusals(stage: TunnelStage, credentials: Credentials): void {
  for (const [what, headers, status] of [
    ['no password', {}, 407],
    // Some proxies treat it as credentials for an origin.
    ['a wrong password', proxyAuthorization({ ...credentials, password: 'guess' }), 401],
  ] as const) {
    test(`${what}: the status tells, and the request fails with what the caller makes of it`, async () => {
      const proxy = stage.open()
      const answer = await proxy.connect({ path: new URL(stage.secureOrigin()).host, headers })
      const { statusCode } = answer
      if (status === 407) assert.match(String(answer.headers['proxy-authenticate']), /^basic /i)
      assert.ok(statusCode === status || statusCode === 407, `status ${statusCode}`)
      answer.socket.destroy()

      const client = stage.keep(tunnelClient(stage.secureOrigin(), proxy, headers))
      await assert.rejects(client.request({ path: '/', method: 'GET' }), {
        name: 'Error',
        message: `the proxy answered ${statusCode}`,
      })
      await proxy.destroy()
    })
  }
}

/** Only for proxies over HTTP/1.1: requests with the whole URL, which the proxy forwards itself. */
export function plainProxySuite(stage: TunnelStage, credentials: Credentials): void {
  test('a request with the whole URL: 407 without the password, else the response', async () => {
    const proxy = stage.open()
    const path = `http://127.0.0.1:${stage.backend().port}/small.txt`
    for (const [headers, expected] of [
      [{}, 407],
      [proxyAuthorization(credentials), 200],
    ] as const) {
      const { statusCode, body } = await proxy.request({ path, method: 'GET', headers })
      assert.equal(statusCode, expected)
      const content = Buffer.from(await body.bytes())
      if (expected === 200) assert.deepEqual(content, SMALL)
    }
    await proxy.close()
  })
}
