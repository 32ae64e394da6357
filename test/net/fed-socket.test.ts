/** Sockets that are taken over as they connect, as nock 15 and msw 3 do it to mock servers. */
import assert from 'node:assert/strict'
import net, { type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Client } from '../../src/index.ts'

const RESPONSE = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nmocked'

/** From now on sockets connect to nothing; each write is answered. Returns the sockets that connected. */
function takeOverSockets(t: TestContext): Socket[] {
  const connected: Socket[] = []
  t.mock.method(net.Socket.prototype, 'connect', function (this: Socket) {
    const answer = (done: () => void): void => {
      done()
      this.push(RESPONSE)
    }
    this._read = () => {}
    this._write = (_chunk, _encoding, done) => answer(done)
    this._writev = (_chunks, done) => answer(done)
    process.nextTick(() => {
      if (this.destroyed) return
      connected.push(this)
      this.emit('connect')
    })
    return this
  })
  return connected
}

test('a socket that others feed is read through its stream', async (t) => {
  const sockets = takeOverSockets(t)
  const client = new Client('http://127.0.0.1:9')
  t.after(() => client.destroy())
  for (let i = 0; i < 2; i++) {
    const { statusCode, body } = await client.request({ path: '/', method: 'GET' })
    assert.deepEqual([statusCode, await body.text()], [200, 'mocked'])
  }
  assert.equal(sockets.length, 1)
})
