import { Agent, EnvHttpProxyAgent, Pool, ProxyAgent, Socks5ProxyAgent, setGlobalDispatcher } from 'undici'

const options: ProxyAgent.Options = {
  uri: 'http://localhost:8080',
  token: 'Basic x',
  headers: { a: 'b' },
  requestTls: { ca: 'x', servername: 'a' },
  proxyTls: { rejectUnauthorized: false },
  proxyTunnel: true,
  clientFactory: (origin, opts) => new Pool(origin, opts),
}
setGlobalDispatcher(new ProxyAgent(options))
export const byUrl = new ProxyAgent(new URL('http://localhost:8080').href)
const env: EnvHttpProxyAgent.Options = { httpProxy: 'http://a', httpsProxy: 'http://b', noProxy: 'localhost' }
export const fromEnvironment = new EnvHttpProxyAgent(env)
export const socks = new Socks5ProxyAgent('socks5://localhost:1080', { username: 'a', password: 'b' })
export const agent: Agent = new Agent({ factory: (origin) => new ProxyAgent({ uri: String(origin) }) })
