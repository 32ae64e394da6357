/** Requests for several TLS server names of one origin: none waits for another, and none fails because of another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { buildConnector } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { failure } from '../support/exchange.ts'
import { overEachWay, startOrigin } from '../support/wire.ts'

const PLAIN = 'there is no server name without TLS'

overEachWay(
  'server names',
  (way) => {
    test('a request for another name does not wait for a long response', async (t) => {
      const origin = await startOrigin(t, way, (request, response) => {
        const { servername } = request.socket as TLSSocket & { servername: string }
        response.write(servername)
        if (request.url !== '/long') response.end()
        else request.on('close', () => {})
      })
      const dispatcher = origin.dispatcher({ connections: 4 })
      const ask = (path: string, name: string) =>
        dispatcher.request({
          origin: origin.url,
          path,
          method: 'GET',
          servername: `${name}.example.test`,
        } as never)
      const long = [await ask('/long', 'a')]
      for (const name of ['b', 'c', 'a', 'b']) {
        const { body } = await ask('/', name)
        assert.equal(await body.text(), `${name}.example.test`)
      }
      if (way.multiplexes) {
        long.push(await ask('/long', 'd'))
        const { body } = await ask('/', 'e')
        assert.equal(await body.text(), 'e.example.test')
      }
      for (const { body } of long) body.on('error', () => {}).destroy()
      await dispatcher.close()
    })

    test('a certificate that is not trusted fails the requests for its own name', async (t) => {
      const origin = await startOrigin(t, way, (_, response) => response.end('ok'))
      const trusting = buildConnector({ ca: authority, allowH2: true })
      const distrusting = buildConnector({ allowH2: true })
      let attempts = 0
      const dispatcher = origin.dispatcher({
        connections: 1,
        connect: (options, callback) => {
          if (options.servername === 'a.example.test') return trusting(options, callback)
          attempts++
          return distrusting(options, callback)
        },
      })
      const ask = (name: string) =>
        dispatcher.request({
          origin: origin.url,
          path: '/',
          method: 'GET',
          servername: `${name}.example.test`,
        } as never)
      const [bad, good, worse] = [failure(ask('b')), ask('a'), failure(ask('b'))]
      assert.match(String((await bad)['code']), /CERT|UNABLE_TO_VERIFY/)
      assert.match(String((await worse)['code']), /CERT|UNABLE_TO_VERIFY/)
      assert.equal(await (await good).body.text(), 'ok')
      assert.ok(attempts <= 2, `${attempts} attempts`)
    })
  },
  { h1: PLAIN, h2c: PLAIN, 'h1+tls': 'a connection for each request' },
)
