/** The runtime's servers on loopback, one for each wire, and the command run against them in this process. */
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { run } from '../../src/cli/command.ts'
import type { Output } from '../../src/cli/text-layout.ts'
import { authority, localhost } from '../support/certificates.ts'

// Whoever runs the tests may be behind a proxy.
for (const name of ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy']) {
  delete process.env[name]
  delete process.env[name.toUpperCase()]
}

export type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => void

export interface Way {
  readonly protocol: 'http/1.1' | 'h2' | 'h2c'
  readonly isSecure: boolean
  /** The options that the command needs. */
  readonly options: readonly string[]
}

export const AUTHORITY: string = fileURLToPath(new URL('../support/certs/ca.pem', import.meta.url))

export const H1: Way = { protocol: 'http/1.1', isSecure: false, options: [] }
export const H1_TLS: Way = { protocol: 'http/1.1', isSecure: true, options: ['--cacert', AUTHORITY] }
export const H2: Way = { protocol: 'h2', isSecure: true, options: ['--cacert', AUTHORITY] }
export const H2C: Way = { protocol: 'h2c', isSecure: false, options: ['--h2c'] }
export const WAYS: readonly Way[] = [H1, H1_TLS, H2, H2C]

export const title = ({ protocol, isSecure }: Way): string => `${protocol}${isSecure ? ' over TLS' : ''}`

/** Starts an origin and returns its URL; it is closed when the test ends. */
export async function start(
  t: TestContext,
  way: Way,
  listener: Listener,
  where: string | null = null,
): Promise<string> {
  const server = createServer(way, listener)
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => {})))
  server.on('tlsClientError', () => {})
  await once(where === null ? server.listen(0, '127.0.0.1') : server.listen(where), 'listening')
  t.after(async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  })
  const port = where === null ? `:${(server.address() as AddressInfo).port}` : ''
  return `${way.isSecure ? 'https' : 'http'}://localhost${port}`
}

function createServer({ protocol, isSecure }: Way, listener: Listener): Server {
  if (protocol === 'http/1.1') {
    const tls = { ...localhost, ca: authority, requestCert: true, rejectUnauthorized: false }
    return isSecure ? https.createServer(tls, listener) : http.createServer(listener)
  }
  const same = listener as unknown as (q: http2.Http2ServerRequest, s: http2.Http2ServerResponse) => void
  return isSecure
    ? http2.createSecureServer(localhost, same)
    : (http2.createServer(same) as unknown as Server)
}

/** Keeps its input. */
export class Screen extends Writable {
  isTTY: boolean | undefined
  columns: number | undefined
  readonly #chunks: Buffer[] = []

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    // It belongs to the writer again when this is done.
    this.#chunks.push(Buffer.from(chunk))
    done()
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  get text(): string {
    return this.bytes.toString()
  }
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly body: Buffer
}

/** Runs the command; on a terminal of this many columns if they are given. */
export async function command(
  argv: readonly string[],
  { columns, env = {}, stdin = '' }: { columns?: number; env?: Record<string, string>; stdin?: string } = {},
): Promise<Ran> {
  const [stdout, stderr] = [new Screen(), new Screen()]
  for (const screen of [stdout, stderr]) {
    screen.isTTY = columns !== undefined
    screen.columns = columns
  }
  const streams = {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: stdout as Output,
    stderr: stderr as Output,
  }
  const code = await run({ argv, env, ...streams })
  return { code, stdout: stdout.text, stderr: stderr.text, body: stdout.bytes }
}

/** Runs the command on a terminal without colour. */
export function onTerminal(argv: readonly string[], stdin = ''): Promise<Ran> {
  return command(argv, { columns: 80, env: { NO_COLOR: '1' }, stdin })
}
