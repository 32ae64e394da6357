// A WebSocket with a subprotocol, text and bytes, and a clean end.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, WebSocket } from 'ventuno'
import { WebSocketServer } from 'ws'

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
server.on('connection', (connection) => {
  connection.on('message', (data, isBinary) => connection.send(data, { binary: isBinary }))
})
await once(server, 'listening')

const dispatcher = new Agent()
const socket = new WebSocket(`ws://localhost:${server.address().port}/`, { protocols: ['echo'], dispatcher })
socket.binaryType = 'arraybuffer'
await once(socket, 'open')
console.log('open, subprotocol', socket.protocol)

socket.send('hello')
const [text] = await once(socket, 'message')
assert.equal(text.data, 'hello')

socket.send(new Uint8Array([1, 2, 3]))
const [bytes] = await once(socket, 'message')
assert.deepEqual(new Uint8Array(bytes.data), new Uint8Array([1, 2, 3]))
console.log('received', text.data, 'and', bytes.data)

socket.close(1000, 'done')
const [{ code, reason, wasClean }] = await once(socket, 'close')
console.log('closed', { code, reason, wasClean })
assert.equal(wasClean, true)

await dispatcher.close()
server.close()
