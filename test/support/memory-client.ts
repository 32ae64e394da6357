/** A client whose connections are in-memory sockets: nothing happens except what the test does. */
import type { TestContext } from 'node:test'
import { Client, type ClientOptions } from '../../src/index.ts'
import { turns } from './fake-clock.ts'
import { MemorySocket } from './memory-socket.ts'

export interface MemoryPair {
  readonly client: Client
  /** In the order in which the client opened them. */
  readonly sockets: readonly MemorySocket[]
  /** Lets everything settle, and returns the client's output on its newest connection. */
  settle(): Promise<string>
  /** Delivers these bytes on the newest connection and lets everything settle. */
  say(...parts: string[]): Promise<void>
}

export function memoryPair(t: Pick<TestContext, 'after'>, options: ClientOptions = {}): MemoryPair {
  const sockets: MemorySocket[] = []
  const client = new Client('http://localhost:1', {
    ...options,
    connect: (_, callback) => {
      const socket = new MemorySocket()
      sockets.push(socket)
      queueMicrotask(() => callback(null, socket))
    },
  })
  t.after(() => client.destroy())
  const settle = async (): Promise<string> => {
    await turns(4)
    return sockets.at(-1)?.written ?? ''
  }
  return {
    client,
    sockets,
    settle,
    say: async (...parts) => {
      sockets.at(-1)!.say(...parts)
      await settle()
    },
  }
}

/** The request lines in a client's output. */
export function requestLines(written: string): string[] {
  return [...written.matchAll(/([A-Z]+ \S+) HTTP\/1\.1\r\n/g)].map((match) => match[1]!)
}
