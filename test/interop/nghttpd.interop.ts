/** nghttpd of nghttp2: HTTP/2 only, over TLS and in cleartext. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Client, H2CClient } from '../../src/index.ts'
import { CERT_FILE, findProgram, freePort, KEY_FILE, Stage, TRUST, writeContent } from './real-server.ts'
import { assertAllSucceeded, echoAll, getLarge, getSmall, head, LARGE, notFound, storm } from './transfers.ts'

const program = findProgram('nghttpd')

for (const wire of ['h2', 'h2c'] as const) {
  describe(`nghttpd, ${wire}`, program === null ? { skip: 'nghttpd is not installed' } : {}, () => {
    const stage = new Stage()
    let client: Client
    let small: Buffer
    let large: Buffer
    let url: string
    let folder: string

    const connect = (to: string): Client =>
      wire === 'h2' ? new Client(to, { connect: TRUST }) : new H2CClient(to)

    /** Starts one and returns its origin. */
    const serve = async (more: readonly string[] = []): Promise<string> => {
      const port = await freePort()
      const options = [
        '-a',
        '127.0.0.1',
        '-d',
        folder,
        '--echo-upload',
        '--trailer',
        'x-checksum: none',
        ...more,
      ]
      const files = wire === 'h2' ? [String(port), KEY_FILE, CERT_FILE] : ['--no-tls', String(port)]
      await stage.start(program!, [...options, ...files], [port])
      return `${wire === 'h2' ? 'https' : 'http'}://127.0.0.1:${port}`
    }

    before(async () => {
      folder = stage.folder()
      small = writeContent(join(folder, 'small.txt'), 1_000)
      large = writeContent(join(folder, 'large.bin'), LARGE)
      url = await serve()
      client = connect(url)
      stage.onEnd(() => client.destroy())
    })
    after(() => stage.end())

    test('a small body, with its trailer', async () => {
      await getSmall(client, '/small.txt', small)
      const { body, trailers } = await client.request({ path: '/small.txt', method: 'GET' })
      await body.dump()
      assert.deepEqual({ ...trailers }, { 'x-checksum': 'none' })
    })

    test('HEAD', () => head(client, '/small.txt', small.length))
    test('404', () => notFound(client))
    test('50 MB, three at a time', () => getLarge(client, '/large.bin', large))
    test('POST of bytes and streams up to 50 MB comes back', () => echoAll(client, '/echo'))

    test('100 at a time, 1,000 each, on one connection', async () => {
      let connections = 0
      const busy = connect(url)
      busy.on('connect', () => connections++)
      const tally = await storm(busy, '/small.txt', small, 100, 1_000)
      await busy.close()
      assertAllSucceeded(tally, 100_000)
      assert.equal(connections, 1)
    })

    test('a server that takes three streams at a time: those that came too early are sent again', async () => {
      const strict = await serve(['-m', '3'])
      const other = connect(strict)
      const tally = await storm(other, '/small.txt', small, 60, 20)
      await other.close()
      assertAllSucceeded(tally, 1_200)
    })

    test('an abort in the middle of 50 MB leaves the connection usable', async () => {
      const { body } = await client.request({ path: '/large.bin', method: 'GET' })
      for await (const _ of body) break
      await getSmall(client, '/small.txt', small)
    })
  })
}
