import { Client } from 'undici'

const options: Client.Options = {
  bodyTimeout: 1,
  headersTimeout: 2,
  keepAliveTimeout: 3,
  keepAliveMaxTimeout: 4,
  keepAliveTimeoutThreshold: 5,
  maxHeaderSize: 6,
  maxResponseSize: -1,
  pipelining: 1,
  socketPath: '/tmp/socket',
  strictContentLength: false,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 250,
  allowH2: true,
  maxConcurrentStreams: 10,
  localAddress: '127.0.0.1',
  webSocket: { maxPayloadSize: 10 },
  connect: { servername: 'a', key: 'k', cert: 'c', keepAlive: true, timeout: 10 },
  h2Options: { maxConcurrentStreams: 10, settings: { initialWindowSize: 65_535 } },
}
export const client = new Client(new URL('http://localhost'), options)
client.pipelining = 2
export const { connected, pending, running, size } = client.stats
export const info = (socket: Client.SocketInfo): number => (socket.bytesRead ?? 0) + (socket.localPort ?? 0)
