import net from 'node:net'
import tls from 'node:tls'
import { Agent, buildConnector, Client, Pool } from 'undici'
export function socks(
  proxy: { host: string; port: number },
  tlsOpts: buildConnector.BuildOptions = {},
): buildConnector.connector {
  const { timeout = 10e3 } = tlsOpts
  const undiciConnect = buildConnector(tlsOpts)
  return async (options, callback) => {
    const { protocol, hostname, port, httpSocket } = options
    try {
      const socket = net.connect(proxy.port, proxy.host)
      if (timeout) socket.setTimeout(timeout)
      if (protocol !== 'https:') return callback(null, socket.setNoDelay())
      return undiciConnect({ ...options, httpSocket: socket ?? httpSocket, port, hostname }, callback)
    } catch (e) {
      return callback(e as Error, null)
    }
  }
}
export const verify: buildConnector.connector = (opts, cb) => {
  const s = tls.connect({
    host: opts.hostname,
    port: Number(opts.port),
    servername: opts.servername ?? opts.hostname,
    ALPNProtocols: ['http/1.1'],
  })
  s.once('secureConnect', () =>
    s.authorized ? cb(null, s) : cb(s.authorizationError ?? new Error('x'), null),
  )
}
export const a = new Agent({ connect: socks({ host: 'a', port: 1 }) })
export const b = new Pool('http://x', { connect: verify, connections: 2 })
export const c = new Client('http://x', {
  connect: {
    lookup: (_h, _o, cb) => cb(null, [{ address: '1.1.1.1', family: 4 }]),
    family: 4,
    rejectUnauthorized: false,
    ca: ['x'],
    cert: Buffer.from(''),
    key: 'x',
    timeout: 1,
    keepAlive: true,
    socketPath: '/x',
  },
})
export const e = (cb: buildConnector.Callback) => cb(new Error('x'), null)
type Opt = NonNullable<Agent.Options['connect']>
export const f: Opt = { rejectUnauthorized: false }
export const g: ConstructorParameters<typeof Agent>[0] = { connect: { timeout: 5 } }
