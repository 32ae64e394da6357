// A client that makes its proxy from the environment, and keeps it.
import { ProxyAgent } from 'undici'

export class RunnerClient {
  private proxyDispatcher: ProxyAgent | undefined
  getAgentDispatcher(serverUrl: string): ProxyAgent | undefined {
    const proxy = new URL(process.env['https_proxy'] ?? serverUrl)
    if (this.proxyDispatcher !== undefined) return this.proxyDispatcher
    this.proxyDispatcher = new ProxyAgent({
      uri: proxy.href,
      pipelining: 1,
      ...((proxy.username || proxy.password) && {
        token: `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')}`,
      }),
      requestTls: { rejectUnauthorized: false, servername: 'a' },
      proxyTls: { ca: 'a' },
      proxyTunnel: true,
    })
    return this.proxyDispatcher
  }
}
export const proxies: ProxyAgent[] = [
  new ProxyAgent({ uri: 'http://localhost:8888' }),
  new ProxyAgent({ uri: 'http://localhost', headers: { a: 'b' }, auth: 'a' }),
]
