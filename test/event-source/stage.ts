/** An origin that answers each request with the next answer of a script, and sources whose events are recorded. */
import type http from 'node:http'
import type { TestContext } from 'node:test'
import {
  type Agent,
  EventSource,
  type EventSourceInit,
  type EventSourceNodeOptions,
} from '../../src/index.ts'
import { agentFor } from '../fetch/agent-for.ts'
import { contentOf } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { startOrigin, WIRES, type Wire } from '../support/wire.ts'

export type Answer = (response: http.ServerResponse, request: http.IncomingMessage) => void

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: Promise<string>
}

export interface Stage {
  readonly url: string
  readonly agent: Agent
  /** The requests so far. */
  readonly requests: readonly Seen[]
  /** The responses so far. */
  readonly responses: readonly http.ServerResponse[]
}

export const [h1, , , h2c] = WIRES as readonly [Wire, Wire, Wire, Wire]

/** After the last answer, requests get none. */
export async function setStage(
  t: TestContext,
  wire: Wire,
  answers: readonly Answer[],
  options = {},
): Promise<Stage> {
  const requests: Seen[] = []
  const responses: http.ServerResponse[] = []
  const origin = await startOrigin(t, wire, (request, response) => {
    const body = contentOf(request).then(String)
    body.catch(() => {})
    response.on('error', () => {})
    requests.push({ method: request.method!, url: request.url!, headers: request.headers, body })
    responses.push(response)
    answers[requests.length - 1]?.(response, request)
  })
  return { url: origin.url, agent: agentFor(t, wire, options), requests, responses }
}

/** An event stream that stays open. */
export function stream(...texts: string[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(texts.join('') || ':\n')
  }
}

/** An event stream that ends. */
export function ended(text = ''): Answer {
  return (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
}

/** Any other response. */
export function status(code: number, headers: http.OutgoingHttpHeaders = {}, body = ''): Answer {
  return (response) => response.writeHead(code, headers).end(body)
}

/** Loses the connection, or resets the stream, after this text; with a text, not before the request has arrived. */
export function lost(text = ''): Answer {
  return (response, request) => {
    const end = (): void => {
      const { stream: http2Stream } = request as unknown as { stream?: { close(code: number): void } }
      if (http2Stream?.close === undefined) request.socket.destroy()
      else http2Stream.close(2)
    }
    if (text === '') {
      end()
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text, () => {
      if (request.readableEnded) setImmediate(end)
      else request.once('end', () => setImmediate(end))
    })
  }
}

export interface Recorded {
  readonly source: EventSource
  /** `open 1`, `message x`, `name: x` or `error 0`, with the state. */
  readonly log: string[]
  readonly errors: EventSourceErrorEvents
}

type EventSourceErrorEvents = Parameters<NonNullable<EventSource['onerror']>>[0][]

/** A source whose events are recorded; closed when the test ends. */
export function listen(
  t: TestContext,
  stage: Stage,
  path: string,
  node: EventSourceNodeOptions = {},
  init: EventSourceInit = {},
): Recorded {
  const { url, agent } = stage
  const source = new EventSource(new URL(path, url), { ...init, node: { dispatcher: agent, ...node } })
  const log: string[] = []
  const errors: EventSourceErrorEvents = []
  source.onopen = () => log.push(`open ${source.readyState}`)
  source.onmessage = ({ data }) => log.push(`message ${data}`)
  source.onerror = (event) => {
    errors.push(event)
    log.push(`error ${source.readyState}`)
  }
  t.after(() => source.close())
  return { source, log, errors }
}

/** Waits for this many lines in a log. */
export async function lines(log: readonly string[], count: number): Promise<readonly string[]> {
  await eventually(() => log.length >= count, `${count} lines, but: ${log.join(', ')}`)
  return log
}
