/** Interceptors know nothing below `dispatch`: one wire of each protocol is enough for them. */
import type { TestContext } from 'node:test'
import { Agent, type AgentOptions, type Interceptor } from '../../src/index.ts'
import { overEachWire, type SkippedWires, type Wire, wireOptions } from '../support/wire.ts'

const CLEARTEXT: SkippedWires = { 'h1+tls': 'TLS makes no difference', 'h2+tls': 'TLS makes no difference' }

export function overTwoWires(title: string, define: (wire: Wire) => void): void {
  overEachWire(title, define, CLEARTEXT)
}

/** An agent with interceptors, innermost first; destroyed when the test ends. */
export function composedAgent(t: TestContext, wire: Wire, ...interceptors: Interceptor[]): Agent {
  const agent = new Agent(wireOptions(wire) as AgentOptions)
  t.after(() => agent.destroy())
  return agent.compose(...interceptors)
}
