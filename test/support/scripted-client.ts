/** A client and the byte-exact peer it talks to. */
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { Client, type ClientOptions, type Dispatcher, type DispatchOptions } from '../../src/index.ts'
import { type Interference, RecordingHandler } from './recording-handler.ts'
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts'

export interface ScriptedPair {
  readonly server: ScriptedServer
  readonly client: Client
  /** Names of the client's events, in order, with the message of an error. */
  readonly events: string[]
}

export async function startPair(t: TestContext, options: ClientOptions = {}): Promise<ScriptedPair> {
  const server = await startScriptedServer(t)
  const client = new Client(server.url, options)
  t.after(() => client.destroy())
  return { server, client, events: recordEvents(client) }
}

export function recordEvents(client: Client, events: string[] = []): string[] {
  for (const name of ['connect', 'disconnect', 'connectionError', 'drain', 'error'] as const) {
    client.on(name, (...args: unknown[]) => {
      const error = name === 'error' ? args[0] : args[2]
      events.push(error instanceof Error ? `${name}: ${error.message}` : name)
    })
  }
  return events
}

/** Dispatches and records. */
export function send(
  client: Dispatcher,
  options: Partial<DispatchOptions> = {},
  interfere?: Interference,
): RecordingHandler {
  const handler = new RecordingHandler(interfere)
  client.dispatch({ path: '/', method: 'GET', ...options }, handler)
  return handler
}

/** The error of the client's next `disconnect`. */
export async function disconnected(client: Client): Promise<Error & { code?: string }> {
  const [, , error] = (await once(client, 'disconnect')) as [URL, unknown[], Error]
  return error
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** A response with this body. */
export function response(body: string, ...fields: string[]): string {
  return `HTTP/1.1 200 OK\r\n${fields.map((field) => `${field}\r\n`).join('')}content-length: ${body.length}\r\n\r\n${body}`
}
