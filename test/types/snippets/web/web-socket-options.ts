import { Agent, Headers, WebSocket, type WebSocketInit } from 'undici'

const init: WebSocketInit = { protocols: ['a', 'b'], dispatcher: new Agent(), headers: { a: 'b' } }
export const sockets = [
  new WebSocket('ws://a.test'),
  new WebSocket('ws://a.test', 'a'),
  new WebSocket('ws://a.test', init),
  new WebSocket('ws://a.test', { headers: new Headers({ a: 'b' }) }),
]
