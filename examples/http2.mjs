// HTTP/2 over TLS, selected by the server, and over cleartext: many requests at once on one connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { Client, H2CClient } from 'ventuno'

const pem = (name) => readFileSync(new URL(`./${name}.pem`, import.meta.url))
const answer = (request, response) => response.end(`${request.url} over HTTP/${request.httpVersion}`)

const secure = http2.createSecureServer({ key: pem('localhost-key'), cert: pem('localhost') }, answer)
const cleartext = http2.createServer(answer)
await once(secure.listen(0, '127.0.0.1'), 'listening')
await once(cleartext.listen(0, '127.0.0.1'), 'listening')

const clients = [
  new Client(`https://localhost:${secure.address().port}`, { connect: { ca: pem('ca') } }),
  new H2CClient(`http://localhost:${cleartext.address().port}`),
]
for (const client of clients) {
  let connections = 0
  client.on('connect', () => connections++)
  const texts = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const { body } = await client.request({ path: `/${i}`, method: 'GET' })
      return body.text()
    }),
  )
  console.log(texts[0], '…', texts.at(-1), `on ${connections} connection`)
  assert.equal(texts[7], '/7 over HTTP/2.0')
  assert.equal(connections, 1)
  await client.close()
}
secure.close()
cleartext.close()
