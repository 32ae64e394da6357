import {
  Agent,
  type CloseEvent,
  type ErrorEvent,
  EventSource,
  type EventSourceInit,
  type MessageEvent,
  ProxyAgent,
  ping,
  WebSocket,
  WebSocketError,
  type WebSocketInit,
  WebSocketStream,
} from 'undici'

const init: WebSocketInit = {
  protocols: ['a'],
  dispatcher: new ProxyAgent('http://p'),
  headers: { authorization: 'x' },
}
const ws = new WebSocket('ws://a', init)
const ws2 = new WebSocket(new URL('ws://a'), ['x', 'y'])
ws.binaryType = 'arraybuffer'
ws.onmessage = (e) => {
  if (typeof e.data === 'string') JSON.parse(e.data)
  else new Uint8Array(e.data)
}
ws.onopen = function (e) {
  this.send(e.type)
}
ws.onclose = (e) => console.log(e.code, e.reason, e.wasClean)
ws.onerror = (e) => console.log(e.message, e.error)
ws.addEventListener('message', (e) => e.data, { once: true })
ws.addEventListener('close', ({ code }: CloseEvent) => code)
ws.addEventListener('error', (e: ErrorEvent) => e.error)
const l = (e: MessageEvent<string>) => e.data.length
ws.addEventListener('message', l)
ws.removeEventListener('message', l)
ws.send(new Uint8Array(1))
ws.send(Buffer.from('x'))
ws.send(new ArrayBuffer(1))
ws.close(1000, 'x')
export const state: boolean =
  ws.readyState === WebSocket.OPEN || ws.readyState === ws.CLOSING || ws2.bufferedAmount > 0
const ei: EventSourceInit = { withCredentials: true, node: { dispatcher: new Agent(), reconnectionTime: 1 } }
const es = new EventSource('http://a', ei)
es.onmessage = (e) => console.log(e.data, e.lastEventId)
es.addEventListener('custom', (e) => console.log((e as MessageEvent).data))
es.addEventListener('message', (e) => e.data)
es.onerror = (e) => console.log(e.message)
es.close()
export const closed = es.readyState === EventSource.CLOSED || es.readyState === es.OPEN
export async function s() {
  const w = new WebSocketStream('ws://a', { protocols: 'x' })
  const { readable, writable, protocol } = await w.opened
  for await (const c of readable) console.log(c, protocol)
  await writable.getWriter().write('x')
  w.close({ closeCode: 1000 })
  try {
    await w.closed
  } catch (e) {
    if (e instanceof WebSocketError) return e.closeCode
  }
  return null
}
export const p = ping(ws)
const t: EventTarget = ws
const wait = (w: WebSocket) =>
  new Promise<void>((res, rej) => {
    w.addEventListener('open', () => res())
    w.addEventListener('error', (e) => rej(e.error))
  })

export { t, wait }
