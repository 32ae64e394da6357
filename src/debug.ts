/**
 * Debug output: `RUNTIME_DEBUG=core,fetch,websocket,connections` writes the life of connections and requests to
 * standard error (docs/debug-output.md). It subscribes to the diagnostics channels; with the variable unset, to none.
 */
import { Console } from 'node:console'
import { channel } from 'node:diagnostics_channel'
import { messageOf } from './base/error/message-of.ts'
import { DEBUG_FLAGS } from './base/node/debug-flags.ts'
import { oneLine } from './base/text/one-line.ts'

type Flag = 'core' | 'fetch' | 'websocket' | 'connections'

const FLAGS: readonly Flag[] = ['core', 'fetch', 'websocket', 'connections']

const ENABLED: ReadonlySet<Flag> = new Set(FLAGS.filter((flag) => DEBUG_FLAGS.has(flag)))

interface ConnectMessage {
  readonly connectParams: { readonly host: string; readonly protocol: string; readonly version?: string }
  readonly error?: unknown
}

interface RequestMessage {
  readonly request: { readonly method: string; readonly origin: string; readonly path: string }
  readonly response?: { readonly statusCode: number }
  readonly error?: unknown
}

interface WebSocketMessage {
  readonly address?: { readonly address: string } | null
  readonly websocket: { readonly url: string }
  readonly code?: number
  readonly reason?: string
}

/** A row of `connections()`, as far as it is printed. */
interface Row {
  readonly id: number
  readonly origin: string
  readonly protocol: string | null
  readonly requests: number
  readonly bytesRead: number | null
  readonly bytesWritten: number | null
}

interface DisconnectedMessage {
  readonly connection: Row
  readonly duration: number
  readonly error: unknown
}

/** By the channel of the message: the line about it. */
type Lines = Readonly<Record<string, (message: never) => string>>

const CONNECTIONS: Lines = {
  'undici:client:beforeConnect': ({ connectParams }: ConnectMessage) =>
    `connecting to ${endOf(connectParams)}`,
  'undici:client:connected': ({ connectParams }: ConnectMessage) => `connected to ${endOf(connectParams)}`,
  'undici:client:connectError': ({ connectParams, error }: ConnectMessage) =>
    `connection to ${endOf(connectParams)} errored - ${messageOf(error)}`,
  'undici:client:sendHeaders': ({ request }: RequestMessage) => `sending request to ${nameOf(request)}`,
}

const TRAFFIC: Lines = {
  'undici:request:headers': ({ request, response }: RequestMessage) =>
    `received response to ${nameOf(request)} - HTTP ${response!.statusCode}`,
  'undici:request:trailers': ({ request }: RequestMessage) => `trailers received from ${nameOf(request)}`,
  'undici:request:error': ({ request, error }: RequestMessage) =>
    `request to ${nameOf(request)} errored - ${messageOf(error)}`,
}

const WEB_SOCKETS: Lines = {
  'undici:websocket:open': ({ address }: WebSocketMessage) =>
    address ? `connection opened ${address.address}` : 'connection opened',
  'undici:websocket:close': ({ websocket, code, reason }: WebSocketMessage) =>
    `closed connection to ${withoutQuery(websocket.url)} - ${code} ${reason}`,
  'undici:websocket:socket_error': (error: unknown) => `connection errored - ${messageOf(error)}`,
  'undici:websocket:ping': () => 'ping received',
  'undici:websocket:pong': () => 'pong received',
}

const ENDS: Lines = {
  'ventuno:client:disconnected': ({ connection, duration, error }: DisconnectedMessage) => {
    const { id, origin, protocol, requests, bytesRead, bytesWritten } = connection
    const carried = `${requests} requests, ${bytesRead ?? '?'} bytes in, ${bytesWritten ?? '?'} out`
    return `${id} to ${origin} over ${protocol} ended after ${Math.round(duration)} ms, ${carried} - ${messageOf(error)}`
  },
}

/** The columns that fit into a wide terminal. */
const COLUMNS = 'id origin state protocol age idleTime requests running bytesRead bytesWritten'.split(' ')

/** The connections of the last table: a dispatcher closes those that it is made of, whose tables would repeat it. */
let shown: ReadonlySet<number> = new Set()

/**
 * Starts the output if the variable asks for it. Called with every client. Only the first call in the process
 * has an effect, even if the library was loaded more than once: copies recognise each other by the
 * subscription.
 */
export function startDebugOutput(): void {
  if (ENABLED.size === 0) return
  const started = channel('ventuno:debug')
  if (started.hasSubscribers) return
  started.subscribe(() => {})

  if (ENABLED.has('fetch')) log('FETCH', { ...CONNECTIONS, ...TRAFFIC })
  else if (ENABLED.has('core')) log('CORE', { ...CONNECTIONS, ...TRAFFIC })
  else if (ENABLED.has('websocket')) log('WEBSOCKET', CONNECTIONS)
  if (ENABLED.has('connections')) log('CONNECTIONS', ENDS)
  if (ENABLED.has('websocket')) log('WEBSOCKET', WEB_SOCKETS)
}

/** A dispatcher is being closed or destroyed: prints what `rows` has then, if the variable asks for it. */
export function showConnections(of: object, rows: () => readonly Row[]): void {
  if (!ENABLED.has('connections')) return
  const all = rows()
  if (all.every(({ id }) => shown.has(id))) return
  shown = new Set(all.map(({ id }) => id))
  write('CONNECTIONS', `${all.length} of ${of.constructor.name}, which is being closed:`)
  new Console(process.stderr).table(all, COLUMNS)
}

function log(label: string, lines: Lines): void {
  for (const [name, lineOf] of Object.entries(lines)) {
    channel(name).subscribe((message) => write(label, lineOf(message as never)))
  }
}

/** Before the handshake the version is unknown, and HTTP/1.1 assumed. */
function endOf({ host, protocol, version }: ConnectMessage['connectParams']): string {
  return `${host} using ${protocol}${version ?? 'h1'}`
}

/** The path of a CONNECT is an authority: it has no `//` by which `write()` recognises userinfo. */
function nameOf({ method, origin, path }: RequestMessage['request']): string {
  return `${method} ${origin}${withoutQuery(path).replace(/^[^/]*@/, '')}`
}

/** A query may have a token in it. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*/s, '')
}

/** One write per line, so that lines of other writers cannot split it. */
function write(label: string, message: string): void {
  process.stderr.write(`${label} ${process.pid}: ${oneLine(message)}\n`)
}
