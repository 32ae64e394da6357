import { WebSocket } from 'undici'

export function open(url: URL): WebSocket {
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  socket.send('text')
  socket.send(new Uint8Array(1))
  socket.send(new ArrayBuffer(1))
  socket.send(new Blob(['x']))
  socket.send(Buffer.from('x'))
  socket.close(1000, 'done')
  return socket
}
export const texts: string[] = [open(new URL('ws://a.test')).url, open(new URL('ws://a.test')).protocol]
