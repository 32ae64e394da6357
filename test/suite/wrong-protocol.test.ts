/** https spoken to a port for http, and the other way round: the error says so, its code and message do not change. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { fetch, request } from '../../src/index.ts'
import { localhost } from '../support/certificates.ts'
import { failure } from '../support/exchange.ts'

async function portOf(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as { port: number }).port
}

function firstLine(error: Error): string {
  return error.stack!.split('\n', 1)[0]!
}

test('https to a port for http', async (t) => {
  const server = createServer((socket) =>
    socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  )
  const url = `https://127.0.0.1:${await portOf(t, server)}/`
  const error = (await failure(request(url))) as Error as NodeJS.ErrnoException
  assert.equal(error.code, 'ERR_SSL_WRONG_VERSION_NUMBER')
  assert.doesNotMatch(error.message, /speak/)
  assert.match(
    firstLine(error),
    /GET https:\S+ while connecting, the port does not speak TLS: is it one for http\?/,
  )
  const { cause } = await failure(fetch(url))
  assert.match(firstLine(cause as Error), /the port does not speak TLS/)
})

test('http to a port for https', async (t) => {
  const server = createTlsServer(localhost, () => {}).on('tlsClientError', () => {})
  const error = (await failure(
    request(`http://127.0.0.1:${await portOf(t, server)}/`),
  )) as NodeJS.ErrnoException
  assert.match(firstLine(error), / sent and 0 received: is the port one for https\?\)$/)
})

test('a server that answers http with an alert of TLS', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(Buffer.from('1503030002020a', 'hex')))
  })
  const error = (await failure(
    request(`http://127.0.0.1:${await portOf(t, server)}/`),
  )) as NodeJS.ErrnoException
  assert.equal(error.code, 'HPE_INVALID_CONSTANT')
  assert.match(firstLine(error), /the port speaks TLS: is it one for https\?\)$/)
})
