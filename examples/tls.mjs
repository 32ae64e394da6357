// A private authority, a client certificate, and the error for a certificate with another name.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import https from 'node:https'
import { Client } from 'ventuno'

const pem = (name) => readFileSync(new URL(`./${name}.pem`, import.meta.url))
const ca = pem('ca')
const server = https.createServer(
  { key: pem('localhost-key'), cert: pem('localhost'), ca, requestCert: true },
  (request, response) => response.end(`hello ${request.socket.getPeerCertificate().subject.CN}`),
)
await once(server.listen(0, '127.0.0.1'), 'listening')
const origin = `https://localhost:${server.address().port}`

const client = new Client(origin, { connect: { ca, cert: pem('client'), key: pem('client-key') } })
const { body } = await client.request({ path: '/', method: 'GET' })
const text = await body.text()
console.log(text)
assert.equal(text, 'hello client')
await client.close()

const strangers = [
  { connect: {}, code: 'SELF_SIGNED_CERT_IN_CHAIN' },
  { connect: { ca, servername: 'another.test' }, code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
]
for (const { connect, code } of strangers) {
  const stranger = new Client(origin, { connect })
  const error = await stranger.request({ path: '/', method: 'GET' }).catch((reason) => reason)
  console.log(error.code, error.phase, error.retrySafety)
  assert.equal(error.code, code)
  await stranger.close()
}
server.close()
