/** nghttpd of nghttp2: HTTP/2 only, over TLS and in cleartext. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client, H2CClient } from '../../src/index.ts'
import { IDENTITY, TRUST } from './certificate-files.ts'
import { writeSite } from './content.ts'
import { assertAllSucceeded, Load } from './load.ts'
import { describeProgram } from './running-server.ts'
import { program, startNghttpd, TRAILER_NAME, TRAILER_VALUE } from './servers/nghttpd.ts'
import { Stage } from './stage.ts'
import { abandonLarge, echoAll, getLarge, getSmall, head, notFound } from './transfers.ts'

const CONCURRENCY = 150
const TOTAL = 5_000

for (const wire of ['h2', 'h2c'] as const) {
  describeProgram(`nghttpd, ${wire}`, program, () => {
    const stage = new Stage()
    const secure = wire === 'h2'
    let folder: string
    let origin: string
    let client: Client

    const connect = (to: string): Client => {
      const client = secure ? new Client(to, { connect: TRUST }) : new H2CClient(to)
      stage.onEnd(() => client.destroy())
      return client
    }

    before(async () => {
      folder = stage.folder()
      writeSite(folder)
      origin = await startNghttpd(stage, { secure, folder })
      client = connect(origin)
    })
    after(() => stage.end())

    test('a small body, with its trailer', async () => {
      await getSmall(client)
      const { body, trailers } = await client.request({ path: '/small.txt', method: 'GET' })
      await body.dump()
      assert.deepEqual({ ...trailers }, { [TRAILER_NAME]: TRAILER_VALUE })
    })

    test('HEAD', () => head(client))
    test('404', () => notFound(client))
    test('large bodies, three at a time', () => getLarge(client))
    test('large bodies of bytes and of streams come back', () => echoAll(client, '/echo'))
    test('a large body is given up in the middle', () => abandonLarge(client))

    test(`${CONCURRENCY} at a time, ${TOTAL} in all, on one connection`, async () => {
      let connections = 0
      const busy = connect(origin)
      busy.on('connect', () => connections++)
      const load = await new Load(busy, CONCURRENCY, TOTAL).end()
      await busy.close()
      assertAllSucceeded(load, TOTAL)
      assert.equal(connections, 1)
    })

    test('a server that takes three streams at a time: those that came too early are sent again', async () => {
      const other = connect(await startNghttpd(stage, { secure, folder, streams: 3 }))
      const load = await new Load(other, 60, 1_200).end()
      await other.close()
      assertAllSucceeded(load, 1_200)
    })

    if (secure) {
      test('a client certificate is shown where the server asks for one', async () => {
        const strict = await startNghttpd(stage, { secure, folder, mutual: true })
        const known = new Client(strict, { connect: { ...TRUST, ...IDENTITY } })
        stage.onEnd(() => known.destroy())
        await getSmall(known)
        await assert.rejects(connect(strict).request({ path: '/small.txt', method: 'GET' }))
      })
    }
  })
}
