/** The dispatcher of a fetch over one wire; destroyed when the test ends. */
import type { TestContext } from 'node:test'
import { Agent } from '../../src/index.ts'
import { type Wire, wireOptions } from '../support/wire.ts'

export function agentFor(t: TestContext, wire: Wire, options = {}): Agent {
  const agent = new Agent({ ...wireOptions(wire), ...options })
  t.after(() => agent.destroy())
  return agent
}
