// Subclasses that override one method.
import { Agent, Client, type Dispatcher, Pool } from 'undici'

export class Counting extends Agent {
  count = 0
  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.count++
    return super.dispatch(options, handler)
  }
}
export class Named extends Pool {
  constructor(
    readonly name: string,
    origin: URL,
    options?: Pool.Options,
  ) {
    super(origin, { connections: 4, ...options })
  }
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return super.dispatch({ ...options, headers: { name: this.name } }, handler)
  }
}
export class Slow extends Client {
  override close(): Promise<void>
  override close(callback: () => void): void
  override close(callback?: () => void): Promise<void> | void {
    return callback === undefined ? super.close() : super.close(callback)
  }
}
export const all: Dispatcher[] = [
  new Counting(),
  new Named('a', new URL('http://localhost')),
  new Slow('http://localhost'),
]
