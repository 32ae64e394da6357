/** The events of the dispatchers that an agent is made of, as events of the agent. */
import type { Agent } from '../dispatcher/agent.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'

const REEMITTED = ['connect', 'disconnect', 'connectionError', 'drain'] as const

/** `inner`: an agent, whose place in the targets the outer one takes, or a pool, which comes after it. */
export function reemit(outer: Dispatcher, inner: Dispatcher | Agent, isAgent: boolean): void {
  for (const event of REEMITTED) {
    inner.on(event, (url: URL, targets: readonly unknown[] = [], ...rest: unknown[]) => {
      outer.emit(event, url, [outer, ...(isAgent ? targets.slice(1) : targets)], ...rest)
    })
  }
  inner.on('error', (error: unknown) => outer.emit('error', error))
  inner.on('ping', (milliseconds: number) => outer.emit('ping', milliseconds))
}
