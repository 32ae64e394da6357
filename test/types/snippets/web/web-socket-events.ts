import { type CloseEvent, ErrorEvent, MessageEvent, WebSocket } from 'undici'

const socket = new WebSocket('ws://a.test', ['chat'])
socket.addEventListener('open', (event) => void event.type)
socket.addEventListener('message', (event: MessageEvent<string>) => void event.data.length, { once: true })
socket.addEventListener(
  'message',
  ({ data, lastEventId, origin, ports }) => void [data, lastEventId, origin, ports],
)
socket.addEventListener('close', ({ code, reason, wasClean }) => void [code + 1, reason.length, !wasClean])
socket.addEventListener('error', (event) => void event.type)
const onClose = (event: CloseEvent): void => void event.code
socket.addEventListener('close', onClose)
socket.removeEventListener('close', onClose)
socket.onmessage = function (event) {
  this.send(event.data)
}
socket.onopen = (event: Event) => void event
socket.onclose = null
socket.dispatchEvent(new MessageEvent('message', { data: 'x' }))
const typed: MessageEvent<{ a: number }> = new MessageEvent('message', { data: { a: 1 } })
export const sum: number = typed.data.a
export const failed = new ErrorEvent('error', {
  message: 'no',
  error: new Error('no'),
  filename: 'f',
  lineno: 1,
})
export const states: number[] = [WebSocket.OPEN, socket.CLOSED, socket.readyState, socket.bufferedAmount]
