/** Shared by the tests of dispatchers with several connections. */
import type { TestContext } from 'node:test'
import type { PoolOptions } from '../../src/dispatcher/pool/options.ts'
import { Pool } from '../../src/dispatcher/pool/pool.ts'
import type { ConnectorOptions } from '../../src/net/connector.ts'
import { turns } from '../support/fake-clock.ts'
import { MemorySocket } from '../support/memory-socket.ts'

export type Answer = (error: Error | null, socket?: MemorySocket) => void

/** A connector that does nothing until the test triggers it. */
export class MemoryConnector {
  readonly attempts: { readonly target: ConnectorOptions; readonly answer: Answer }[] = []
  readonly sockets: MemorySocket[] = []

  readonly connect = (
    target: ConnectorOptions,
    answer: (error: Error | null, socket?: MemorySocket) => void,
  ) => {
    this.attempts.push({ target, answer })
  }

  /** Answers the pending attempts, in order, with sockets. */
  async open(count = this.attempts.length): Promise<void> {
    for (const { answer } of this.attempts.splice(0, count)) {
      const socket = new MemorySocket()
      this.sockets.push(socket)
      answer(null, socket)
    }
    await turns(4)
  }

  async refuse(error: Error, count = this.attempts.length): Promise<void> {
    for (const { answer } of this.attempts.splice(0, count)) answer(error)
    await turns(4)
  }
}

/** A pool of HTTP/1.1 connections that exist in memory only. */
export function memoryPool(
  t: Pick<TestContext, 'after'>,
  options: PoolOptions = {},
  Make: new (url: string, options: PoolOptions) => Pool = Pool,
): { readonly pool: Pool; readonly connector: MemoryConnector } {
  const connector = new MemoryConnector()
  const pool = new Make('http://localhost:1', { ...options, connect: connector.connect })
  t.after(() => pool.destroy())
  return { pool, connector }
}

/** Connection refused, as the system reports it. */
export function refused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' })
}
