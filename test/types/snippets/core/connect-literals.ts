import { Agent, buildConnector, Client, type Dispatcher, Pool } from 'undici'

export const clients: Dispatcher[] = [
  new Client('http://localhost', { connect: { host: '127.0.0.1', port: 8080 } }),
  new Client('http://localhost', { connect: { path: '/var/run/docker.sock' } }),
  new Client('http://localhost', { connect: { socketPath: '/var/run/docker.sock' } }),
  new Client('https://localhost', {
    connect: { host: 'a', port: 443, servername: 'b', ca: 'c', rejectUnauthorized: false, timeout: 1_000 },
  }),
  new Pool('https://localhost', {
    connections: 2,
    connect: {
      ca: ['a', Buffer.from('b')],
      localAddress: '127.0.0.1',
      localPort: 1,
      family: 4,
      noDelay: true,
    },
  }),
  new Agent({
    connect: { family: 6, hints: 0, lookup: (_name, _options, callback) => callback(null, '::1', 6) },
  }),
  new Agent({
    connect: { keepAlive: true, keepAliveInitialDelay: 60e3, autoSelectFamily: true, maxCachedSessions: 1 },
  }),
]
export const connector = buildConnector({ host: 'a', port: 1, timeout: 10e3, allowH2: true })
export const local = buildConnector({ path: '/var/run/docker.sock' })
const options: buildConnector.BuildOptions = { port: 1, host: 'a' }
options.timeout = 1
export const merged: Agent.Options = { connect: { ...options, rejectUnauthorized: false } }
