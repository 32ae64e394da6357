import { type Dispatcher, MockAgent, type MockPool } from 'undici'

export class Api extends MockAgent {
  readonly pool: MockPool
  constructor() {
    super({ connections: 1 })
    this.disableNetConnect()
    this.pool = this.get<MockPool>('http://api.test')
  }
  override dispatch(
    options: Dispatcher.DispatchOptions & { origin: string | URL },
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    return super.dispatch(options, handler)
  }
}
