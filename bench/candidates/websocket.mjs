// WebSocket clients that send a message and wait for its echo; echoes arrive in the order of the messages.
import { exported, loadLibrary } from './dispatcher.mjs'
import { Fifo } from './fifo.mjs'

export async function openStandard(target) {
  const WebSocket = exported(await loadLibrary(target), 'WebSocket')
  const socket = new WebSocket(target.origin)
  socket.binaryType = 'arraybuffer'
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', (event) => reject(event.error ?? new Error('no WebSocket')))
  })
  const waiting = new Fifo()
  socket.addEventListener('message', (event) => waiting.shift()(null, event.data))
  return session(socket, waiting, target)
}

export async function openWs(target) {
  const { default: WebSocket } = await import('ws')
  const socket = new WebSocket(target.origin, { perMessageDeflate: false })
  await new Promise((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
  })
  const waiting = new Fifo()
  // ws returns Buffers even for text. The others create the string themselves, so this one does it here.
  socket.on('message', (data, binary) => waiting.shift()(null, binary ? data : data.toString()))
  return session(socket, waiting, target)
}

function session(socket, waiting, { body }) {
  const message = body.binary ? new Uint8Array(body.bytes) : 'x'.repeat(body.bytes)
  return {
    start(_path, done) {
      waiting.push(done)
      socket.send(message)
    },
    close: () => socket.close(),
  }
}
