import { Agent, CloseEvent, type ErrorEvent, type MessageEvent, WebSocket, type WebSocketInit } from 'undici'

const init: WebSocketInit = { protocols: ['chat'], dispatcher: new Agent(), headers: { authorization: 'a' } }
export function open(url: string | URL): WebSocket {
  const socket = new WebSocket(url, init)
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('open', () => socket.send(new Uint8Array([1])), { once: true })
  socket.addEventListener('message', ({ data }) =>
    console.log(typeof data === 'string' ? data.length : data.byteLength),
  )
  socket.addEventListener('close', ({ code, reason, wasClean }) => console.log(code, reason, wasClean))
  socket.onerror = (event: ErrorEvent) => console.log(event.error, event.message)
  socket.onmessage = (event: MessageEvent) => console.log(event.data)
  socket.onclose = null
  return socket
}
export const isOpen = (socket: WebSocket): boolean =>
  socket.readyState === WebSocket.OPEN && socket.bufferedAmount === 0
export const event = new CloseEvent('close', { code: 1000, wasClean: true })
