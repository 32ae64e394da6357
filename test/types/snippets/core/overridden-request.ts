// Subclasses that replace one method.
import { Agent, Client, type Dispatcher, Pool } from 'undici'

export class Logged extends Client {
  // biome-ignore lint/suspicious/noExplicitAny: programs written for undici use it
  override request(options: any): Promise<any> {
    console.log(options.path)
    return super.request(options)
  }
}
export class Timed extends Pool {
  override async close(): Promise<void> {
    await super.close()
  }
}
export class Counted extends Agent {
  count = 0
  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.count++
    return super.dispatch({ ...options, reset: true }, handler)
  }
}
