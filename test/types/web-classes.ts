// The web classes can be extended, and a mistake in an option is reported at that option.
import {
  Agent,
  EventSource,
  FormData,
  fetch,
  Headers,
  Request,
  Response,
  type StreamErrorEvent,
  WebSocket,
} from '../../src/index.ts'
import type { Equal } from './equal.ts'

class Loud extends Headers {
  override get(name: string): string | null {
    return super.get(name)?.toUpperCase() ?? null
  }
}

class Answer extends Response {
  override get ok(): boolean {
    return this.status < 500
  }
  override async text(): Promise<string> {
    return `${await super.text()}!`
  }
  override clone(): Answer {
    return new Answer(super.clone().body)
  }
}

class Signed extends Request {
  override get url(): string {
    return `${super.url}?signed`
  }
}

class Form extends FormData {
  override append(name: string, value: string): void {
    super.append(name, value.trim())
  }
}

class Socket extends WebSocket {
  override send(data: string): void {
    super.send(`${data}\n`)
  }
  override get protocol(): string {
    return super.protocol || 'none'
  }
}

class Source extends EventSource {
  override close(): void {
    super.close()
  }
}

const headers: Headers = new Loud()
const answer: Response = new Answer('x', { headers })
const request: Request = new Signed('http://a.test')
const socket: WebSocket = new Socket('ws://a.test')
const source: EventSource = new Source('http://a.test')
source.onerror = (event) => {
  const told: Equal<typeof event, StreamErrorEvent> = true
  const delay: number | null = event.delay
  void [told, delay]
}
void [Form, answer, request, socket.readyState === WebSocket.OPEN]

fetch('http://a.test', {
  method: 'GET',
  // @ts-expect-error No such option.
  metod: 'GET',
})
fetch('http://a.test', {
  // @ts-expect-error Not one of the values.
  redirect: 'folow',
  dispatcher: new Agent(),
})
fetch('http://a.test', {
  // @ts-expect-error Not a body.
  body: 5,
})
new Response('x', {
  // @ts-expect-error A number.
  status: '200',
})
new WebSocket('ws://a.test', {
  // @ts-expect-error No such option.
  protocol: 'a',
})
new EventSource('http://a.test', {
  // @ts-expect-error A boolean.
  withCredentials: 'yes',
})
