import {
  Agent,
  BalancedPool,
  Client,
  DecoratorHandler,
  type Dispatcher,
  EnvHttpProxyAgent,
  MockAgent,
  MockClient,
  MockPool,
  Pool,
  ProxyAgent,
  RedirectHandler,
  RetryAgent,
  RetryHandler,
} from 'undici'
export class A extends RetryHandler {
  constructor(
    opts: Dispatcher.DispatchOptions & { retryOptions?: RetryHandler.RetryOptions },
    h: RetryHandler.RetryHandlers,
  ) {
    super(opts, h)
  }
}
export class B extends DecoratorHandler {
  #h: Dispatcher.DispatchHandler
  constructor(h: Dispatcher.DispatchHandler) {
    super(h)
    this.#h = h
  }
  onResponseStart(
    c: Dispatcher.DispatchController,
    s: number,
    h: Record<string, string | string[] | undefined>,
    m?: string,
  ) {
    this.#h.onResponseStart?.(c, s, h, m)
  }
}
export class C extends MockAgent {
  hits = 0
  dispatch(o: Agent.DispatchOptions, h: Dispatcher.DispatchHandler): boolean {
    this.hits++
    return super.dispatch(o, h)
  }
}
export class D extends ProxyAgent {
  constructor(uri: string) {
    super({
      uri,
      token: 'x',
      requestTls: { rejectUnauthorized: false },
      proxyTls: { ca: 'x' },
      connections: 1,
    })
  }
}
export class E extends EnvHttpProxyAgent {
  constructor(o?: EnvHttpProxyAgent.Options) {
    super({ noProxy: 'localhost', ...o })
  }
}
export class F extends BalancedPool {
  constructor(u: string[]) {
    super(u, { factory: (o, opts) => new Client(o, opts) })
  }
}
export class G extends RetryAgent {
  constructor(d: Dispatcher, o?: RetryHandler.RetryOptions) {
    super(d, { maxRetries: 1, ...o })
  }
}
export class H extends Pool {
  override async close(): Promise<void> {
    await super.close()
  }
}
export class I extends MockPool {
  intercept(o: Parameters<MockPool['intercept']>[0]) {
    return super.intercept(o)
  }
}
export class J extends MockClient {}
export class K extends RedirectHandler {}
export const kinds: Array<new (...args: never[]) => Dispatcher> = [C, D, E, F, G, H, I, J]
export const agent = new Agent({ factory: (origin, opts) => new H(origin as string, opts as Pool.Options) })
