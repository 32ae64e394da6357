/** TLS as the servers speak it: versions, ALPN, resumption, client certificates. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type BuildConnectorOptions, Client } from '../../src/index.ts'
import { IDENTITY, STRANGER, TRUST } from './certificate-files.ts'
import type { RunningServer } from './running-server.ts'
import { getSmall } from './transfers.ts'
import { WatchedConnector } from './watched-connector.ts'

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const

/**
 * A TLS 1.3 client completes its handshake before the server has seen its certificate (RFC 8446 §2): it has sent its
 * request when the alert arrives, and a failed write to a closed connection may be reported before the alert is read.
 * The names are OpenSSL's: `SSLV3_ALERT_…` has been `SSL/TLS_ALERT_…` since its version 3.2.
 */
const REFUSALS = {
  'TLSv1.2': /^ERR_SSL_[\w/]+_ALERT_/,
  'TLSv1.3': /^(ERR_SSL_[\w/]+_ALERT_|EPIPE$|ECONNRESET$)/,
} as const

export function tlsSuite(running: RunningServer): void {
  describe('TLS', () => {
    const { server } = running
    const preferH2 = server.followsClient ?? false

    for (const version of VERSIONS) {
      for (const protocol of ['h2', 'http/1.1'] as const) {
        test(`${version} with ${protocol}, and the session is resumed`, async () => {
          const connector = new WatchedConnector({
            ...TRUST,
            ...only(version),
            allowH2: protocol === 'h2',
            preferH2,
          })
          for (const _ of ['new', 'resumed']) {
            const client = running.keep(new Client(running.site.tls, { connect: connector.connect }))
            await getSmall(client)
            await client.close()
          }
          assert.deepEqual(connector.agreements, [
            { version, protocol, resumed: false },
            { version, protocol, resumed: true },
          ])
        })
      }
    }

    test('a certificate that nobody vouches for is refused', async () => {
      const client = running.keep(new Client(running.site.tls))
      await assert.rejects(client.request({ path: '/small.txt', method: 'GET' }), {
        code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      })
    })

    if (server.refusesIn !== undefined) clientCertificates(running)
  })
}

function clientCertificates(running: RunningServer): void {
  const { server } = running
  const open = (options: BuildConnectorOptions): Client =>
    running.keep(
      new Client(running.site.mutual!, {
        connect: { ...TRUST, preferH2: server.followsClient ?? false, ...options },
      }),
    )

  for (const version of VERSIONS) {
    test(`${version}: the client certificate that the server wants`, () =>
      getSmall(open({ ...only(version), ...IDENTITY })))

    for (const [what, identity] of [
      ['no client certificate', {}],
      ['a client certificate of a stranger', STRANGER],
    ] as const) {
      test(`${version}: ${what}, and the server says so`, async () => {
        const request = open({ ...only(version), ...identity }).request({ path: '/small.txt', method: 'GET' })
        if (server.refusesIn === 'response') {
          const { statusCode, body } = await request
          assert.equal(statusCode, 400)
          assert.match(await body.text(), /certificate/i)
        } else {
          await assert.rejects(request, { code: REFUSALS[version] })
        }
      })
    }
  }
}

function only(version: (typeof VERSIONS)[number]): BuildConnectorOptions {
  return { minVersion: version, maxVersion: version }
}
