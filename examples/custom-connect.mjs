// A Unix socket, and a connect function that inspects the server's certificate before trusting it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildConnector, Client } from 'ventuno'

const pem = (name) => readFileSync(new URL(`./${name}.pem`, import.meta.url))
const answer = (_, response) => response.end('hello')

const folder = mkdtempSync(join(tmpdir(), 'ventuno-'))
const socketPath =
  process.platform === 'win32' ? String.raw`\\.\pipe\ventuno-example` : join(folder, 'socket')
const local = http.createServer(answer)
await once(local.listen(socketPath), 'listening')
const localClient = new Client('http://localhost', { socketPath })
const { body } = await localClient.request({ path: '/', method: 'GET' })
assert.equal(await body.text(), 'hello')
console.log('answered over', socketPath)
await localClient.close()
local.close()
rmSync(folder, { recursive: true, force: true })

const server = https.createServer({ key: pem('localhost-key'), cert: pem('localhost') }, answer)
await once(server.listen(0, '127.0.0.1'), 'listening')
// Without a session cache: a resumed handshake has no certificate.
const connector = buildConnector({ ca: pem('ca'), maxCachedSessions: 0 })
const pinned = (fingerprint) =>
  new Client(`https://localhost:${server.address().port}`, {
    connect(options, callback) {
      return connector(options, (error, socket) => {
        if (error) return callback(error, null)
        const seen = socket.getPeerCertificate().fingerprint256
        if (fingerprint === null || seen === fingerprint) return callback(null, socket)
        socket.destroy()
        callback(new Error(`unexpected certificate ${seen.slice(0, 11)}…`), null)
      })
    },
  })

const trusting = pinned(null)
const trusted = await trusting.request({ path: '/', method: 'GET' })
assert.equal(await trusted.body.text(), 'hello')
await trusting.close()

const strict = pinned('00:00')
await assert.rejects(strict.request({ path: '/', method: 'GET' }), (error) => {
  console.log(error.message)
  return error.message.startsWith('unexpected certificate')
})
await strict.close()
server.close()
