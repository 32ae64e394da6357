import { Client, Pool, type ProxyAgent, type RetryHandler } from 'undici'

declare module 'undici' {
  namespace Client {
    interface Options {
      tenant?: string
    }
  }
  namespace Pool {
    interface Options {
      shard?: number
    }
  }
  namespace RetryHandler {
    interface RetryOptions {
      onGiveUp?: (n: number) => void
    }
  }
  namespace ProxyAgent {
    interface Options {
      region?: string
    }
  }
}
export const a = [new Client('http://x'), new Pool('http://x')]
export const b: RetryHandler.RetryOptions = { maxRetries: 1 }
export const c: ProxyAgent.Options = { uri: 'x' }
