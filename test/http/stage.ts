/** An origin over one wire, and a client for it whose base is `/v1/` there. */
import type { TestContext } from 'node:test'
import { Agent, type Http, type HttpOptions, http } from '../../src/index.ts'
import { echo } from '../support/exchange.ts'
import {
  type Listener,
  startOrigin,
  type TestOrigin,
  WIRES,
  type Wire,
  wireOptions,
} from '../support/wire.ts'

export const h1: Wire = WIRES[0]!

export interface HttpStage extends TestOrigin {
  readonly agent: Agent
  readonly api: Http
  /** The requests that have come. */
  readonly seen: string[]
}

export async function setStage(
  t: TestContext,
  wire: Wire = h1,
  listener: Listener = echo,
  options: HttpOptions = {},
): Promise<HttpStage> {
  const seen: string[] = []
  const origin = await startOrigin(t, wire, (request, response) => {
    seen.push(`${request.method} ${request.url}`)
    listener(request, response)
  })
  const agent = new Agent(wireOptions(wire))
  t.after(() => agent.destroy())
  const api = http.extend({ baseUrl: `${origin.url}/v1/`, dispatcher: agent, ...options })
  return { ...origin, agent, api, seen }
}

/** Answers with JSON. */
export function jsonOf(value: unknown, statusCode = 200): Listener {
  return (request, response) => {
    request.resume()
    response.writeHead(statusCode, { 'content-type': 'application/json' })
    response.end(JSON.stringify(value))
  }
}
