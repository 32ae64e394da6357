// An agent that reads the options of each request, with private state.
import type { AsyncLocalStorage } from 'node:async_hooks'
import type { LookupFunction } from 'node:net'
import { Agent, type buildConnector, type Dispatcher, interceptors } from 'undici'

export interface CheckedOptions extends Agent.Options {
  storage?: AsyncLocalStorage<{ id: number }>
  lookup?: LookupFunction
  connect?: buildConnector.BuildOptions
  allowH2?: boolean
}
export class CheckedAgent extends Agent {
  #storage: AsyncLocalStorage<{ id: number }> | undefined
  constructor({ storage, lookup, connect, ...rest }: CheckedOptions) {
    super({ ...rest, connect: { ...connect, ...(lookup === undefined ? {} : { lookup }) } })
    this.#storage = storage
  }
  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { hostname } = new URL(String(options.origin))
    if (hostname === 'localhost') throw new Error('refused')
    if (this.#storage === undefined) return super.dispatch(options, handler)
    return this.#storage.run({ id: 1 }, () => super.dispatch(options, handler))
  }
}
export const composed: Dispatcher = new CheckedAgent({ connections: 2 }).compose(
  interceptors.redirect({ maxRedirections: 3 }),
)
