import { Agent, EventSource, type EventSourceInit } from 'undici'

const init: EventSourceInit = {
  withCredentials: true,
  node: { dispatcher: new Agent(), reconnectionTime: 100 },
}
const source = new EventSource('http://a.test', init)
source.onopen = (event) => void event.type
source.onmessage = (event) => void [event.data, event.lastEventId]
source.onerror = (event) => void event.type
source.addEventListener('message', (event) => void event.data)
source.addEventListener('custom', (event) => void event.type)
source.addEventListener('open', () => source.close(), { once: true })
const listener = (event: Event): void => void event
source.addEventListener('error', listener)
source.removeEventListener('error', listener)
export const states: (boolean | number | string)[] = [
  source.readyState === EventSource.CLOSED,
  source.CONNECTING,
  source.url,
  source.withCredentials,
]
