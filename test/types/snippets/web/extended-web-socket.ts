import { EventSource, type MessageEvent, WebSocket } from 'undici'

class Reconnecting extends WebSocket {
  attempts = 0
  constructor(url: string) {
    super(url, ['a'])
    this.addEventListener('close', () => this.attempts++)
    this.onmessage = (event: MessageEvent) => this.receive(event)
  }
  protected receive(event: MessageEvent): void {
    this.dispatchEvent(new Event(`got-${event.type}`))
  }
  override send(data: string): void {
    super.send(`${data}\n`)
  }
  override close(code = 1000, reason = 'over'): void {
    super.close(code, reason)
  }
}
class Ticks extends EventSource {
  override close(): void {
    super.close()
  }
}
export const socket: WebSocket = new Reconnecting('ws://a.test')
export const target: EventTarget = new Ticks('http://a.test')
export const open: boolean = socket.readyState === Reconnecting.OPEN
