import { CloseEvent, ErrorEvent, MessageEvent } from 'undici'

class Closed extends CloseEvent {
  get normal(): boolean {
    return this.code === 1000
  }
}
class Failed extends ErrorEvent {}
export const events: Event[] = [
  new MessageEvent('message'),
  new Closed('close'),
  new Failed('error', { error: null }),
]
