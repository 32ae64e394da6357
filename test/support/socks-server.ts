/**
 * A SOCKS 5 proxy (RFC 1928, RFC 1929) on a free port of 127.0.0.1. It reaches every name and address at 127.0.0.1, so that
 * tests can use any, and records what it was asked for.
 */
import net, { type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import tls, { type TlsOptions } from 'node:tls'

export interface SocksOptions {
  /** It wants this name and password. */
  readonly credentials?: { readonly username: string; readonly password: string }
  /** It speaks TLS. */
  readonly tls?: TlsOptions
  /** Ports by name, where a test has several origins that a URL cannot tell apart. Default: the port that is asked for. */
  readonly ports?: Readonly<Record<string, number>>
}

export interface SocksServer {
  readonly port: number
  /** `socks5://127.0.0.1:<port>`. */
  readonly url: string
  /** What was asked for: `name:port` with the type of the address, in order. */
  readonly requests: readonly string[]
  /** `name:password` of each client that gave them. */
  readonly logins: readonly string[]
  /** Connections from clients so far. */
  readonly accepted: readonly Socket[]
  /** Those that are open. */
  readonly open: ReadonlySet<Socket>
}

const TYPES: Readonly<Record<number, string>> = { 1: 'ipv4', 3: 'name', 4: 'ipv6' }

export async function startSocksServer(t: TestContext, options: SocksOptions = {}): Promise<SocksServer> {
  const accepted: Socket[] = []
  const open = new Set<Socket>()
  const requests: string[] = []
  const logins: string[] = []
  const serve = async (socket: Socket): Promise<void> => {
    accepted.push(socket)
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    const far = await negotiate(socket, options, requests, logins).catch(() => null)
    if (far === null) {
      socket.destroy()
      return
    }
    far.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.on('close', () => far.destroy())
    socket.pipe(far).pipe(socket)
  }
  const server = options.tls === undefined ? net.createServer(serve) : tls.createServer(options.tls, serve)
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `socks5://127.0.0.1:${port}`, requests, logins, accepted, open }
}

async function negotiate(
  socket: Socket,
  { credentials, ports = {} }: SocksOptions,
  requests: string[],
  logins: string[],
): Promise<Socket | null> {
  const [, count] = await take(socket, 2)
  const methods = await take(socket, count!)
  const method = credentials === undefined ? 0 : 2
  if (!methods.includes(method)) {
    socket.end(Buffer.of(5, 0xff))
    return null
  }
  socket.write(Buffer.of(5, method))
  if (credentials !== undefined) {
    const username = await take(socket, (await take(socket, 2))[1]!)
    const password = await take(socket, (await take(socket, 1))[0]!)
    logins.push(`${username}:${password}`)
    const isRight = logins.at(-1) === `${credentials.username}:${credentials.password}`
    socket.write(Buffer.of(1, isRight ? 0 : 1))
    if (!isRight) return null
  }
  const type = (await take(socket, 4))[3]!
  const length = type === 3 ? (await take(socket, 1))[0]! : type === 1 ? 4 : 16
  const address = await take(socket, length)
  const port = (await take(socket, 2)).readUInt16BE()
  const name = type === 3 ? address.toString() : [...address].join('.')
  requests.push(`${TYPES[type]} ${name}:${port}`)
  const far = net.connect(ports[name] ?? port, '127.0.0.1')
  return new Promise((resolve) => {
    far.on('connect', () => {
      socket.write(Buffer.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 0))
      resolve(far)
    })
    far.on('error', () => {
      socket.end(Buffer.of(5, 5, 0, 1, 0, 0, 0, 0, 0, 0))
      resolve(null)
    })
  })
}

async function take(socket: Socket, length: number): Promise<Buffer> {
  for (;;) {
    const bytes = length === 0 ? Buffer.alloc(0) : (socket.read(length) as Buffer | null)
    if (bytes !== null) {
      if (bytes.length < length) throw new Error('the client closed')
      return bytes
    }
    await new Promise<void>((resolve, reject) => {
      socket.once('readable', resolve).once('close', () => reject(new Error('the client closed')))
    })
  }
}
