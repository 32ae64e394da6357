// A large body from a generator, through a server, into a hash: it is never held in memory as a whole.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { Client } from 'ventuno'

const server = http.createServer((request, response) => request.pipe(response))
await once(server.listen(0, '127.0.0.1'), 'listening')
const client = new Client(`http://localhost:${server.address().port}`)

const sent = createHash('sha256')
function* pieces() {
  for (let i = 0; i < 64; i++) {
    const piece = Buffer.alloc(16_384, i)
    sent.update(piece)
    yield piece
  }
}

const received = createHash('sha256')
await client.stream({ path: '/', method: 'POST', body: pieces() }, () => received)
const digest = sent.digest('hex')
assert.equal(received.digest('hex'), digest)
console.log('1 MiB there and back:', digest.slice(0, 16))

// Both ways at once: compressed on the way out, decompressed on the way in.
let text = ''
await pipeline(
  ['one ', 'two ', 'three'],
  createGzip(),
  client.pipeline({ path: '/', method: 'POST' }, ({ body }) => body.pipe(createGunzip())),
  async (source) => {
    for await (const chunk of source) text += chunk
  },
)
assert.equal(text, 'one two three')
console.log(text)

await client.close()
server.close()
