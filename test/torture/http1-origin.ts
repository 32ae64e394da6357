/**
 * The server side of HTTP/1.1 for the torture and chaos runs: it reads requests one after the other, passes each to its
 * script, and lets scripts answer correctly or not.
 */
import type { OriginExchange, OriginPort, OriginScript } from './origin-port.ts'

type Fields = Readonly<Record<string, string>>

/** The framing of a request's body; `tunnel` once HTTP has ended. */
type Framing = 'none' | 'length' | 'chunked' | 'trailers' | 'tunnel'

export class Http1Exchange implements OriginExchange {
  readonly method: string
  readonly path: string
  readonly headers: Fields
  readonly received: Buffer[] = []
  trailers: Fields = {}
  isComplete = false
  isAnswered = false
  onBody: (bytes: Buffer) => void = () => {}
  onComplete: () => void = () => {}
  readonly #origin: Http1Origin
  #framing: 'chunked' | 'length' | 'close' | 'tunnel' | null = null
  #closes = false

  constructor(origin: Http1Origin, method: string, path: string, headers: Fields) {
    this.#origin = origin
    this.method = method
    this.path = path
    this.headers = headers
  }

  get isOpen(): boolean {
    return this.#origin.port.isOpen && !this.isAnswered
  }

  interim(status: number): void {
    this.#say(`HTTP/1.1 ${status} Interim\r\n\r\n`)
  }

  head(status: number, fields: Fields = {}): void {
    if (fields['content-length'] !== undefined) this.#framing = 'length'
    else if (fields['connection'] === 'close') this.#framing = 'close'
    else this.#framing = 'chunked'
    this.#closes = fields['connection'] === 'close'
    const all = this.#framing === 'chunked' ? { ...fields, 'transfer-encoding': 'chunked' } : fields
    this.#say(`HTTP/1.1 ${status} Status\r\n${lines(all)}\r\n`)
  }

  write(bytes: Buffer | string): void {
    const piece = Buffer.from(bytes as string)
    if (this.#framing !== 'chunked') this.#say(piece)
    else if (piece.length > 0) this.#say(`${piece.length.toString(16)}\r\n`, piece, '\r\n')
  }

  writeSingles(bytes: Buffer | string): void {
    if (this.#framing !== 'chunked') {
      this.write(bytes)
      return
    }
    this.#say([...Buffer.from(bytes as string).toString('latin1')].map((byte) => `1\r\n${byte}\r\n`).join(''))
  }

  end(trailers: Fields = {}): void {
    if (this.#framing === 'chunked') this.#say(`0\r\n${lines(trailers)}\r\n`)
    const { port } = this.#origin
    if (this.#closes || this.#framing === 'tunnel') port.end()
    this.isAnswered = true
    this.#origin.advance()
  }

  respond(status: number, body: Buffer | string): void {
    const bytes = Buffer.from(body as string)
    const length = this.method === 'HEAD' ? '' : `content-length: ${bytes.length}\r\n`
    this.#say(`HTTP/1.1 ${status} Status\r\n${length}\r\n`, this.method === 'HEAD' ? '' : bytes)
    this.isAnswered = true
    this.#origin.advance()
  }

  grant(fields: Fields = {}): void {
    this.#framing = 'tunnel'
    const head =
      this.method === 'CONNECT'
        ? 'HTTP/1.1 200 Connected\r\n'
        : `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${this.headers['upgrade']}\r\n`
    this.#say(`${head}${lines(fields)}\r\n`)
    this.#origin.tunnel()
  }

  /** Passed to the script. */
  accept(bytes: Buffer): void {
    this.received.push(bytes)
    this.onBody(bytes)
  }

  complete(): void {
    this.isComplete = true
    this.onComplete()
  }

  #say(...parts: (Buffer | string)[]): void {
    this.#origin.say(Buffer.concat(parts.map((part) => Buffer.from(part as string))))
  }
}

export class Http1Origin {
  readonly port: OriginPort
  readonly #script: OriginScript
  /** Splits the output into the pieces that travel. */
  readonly #slice: (bytes: Buffer) => Buffer[]
  #input: Buffer = Buffer.alloc(0)
  #current: Http1Exchange | null = null
  #framing: Framing = 'none'
  #left = 0

  constructor(port: OriginPort, script: OriginScript, slice: (bytes: Buffer) => Buffer[]) {
    this.port = port
    this.#script = script
    this.#slice = slice
    port.onBytes = (bytes) => {
      this.#input = this.#input.length === 0 ? bytes : Buffer.concat([this.#input, bytes])
      this.#read()
    }
    // There is no client left to answer.
    port.onGone = () => port.end()
  }

  /** The request being read or answered. */
  get current(): Http1Exchange | null {
    return this.#current
  }

  say(bytes: Buffer): void {
    for (const piece of this.#slice(bytes)) this.port.send(piece)
  }

  tunnel(): void {
    this.#framing = 'tunnel'
    this.#read()
  }

  /** A response is complete: the next request may be processed if this one has arrived completely. */
  advance(): void {
    this.#read()
  }

  #read(): void {
    while (this.#step()) {}
  }

  #step(): boolean {
    const exchange = this.#current
    if (exchange === null) return this.#readHead()
    if (this.#framing === 'tunnel') {
      if (this.#input.length > 0) exchange.accept(this.#take(this.#input.length))
      return false
    }
    if (!exchange.isComplete) return this.#readBody(exchange)
    if (!exchange.isAnswered) return false
    this.#current = null
    return true
  }

  #readHead(): boolean {
    const end = this.#input.indexOf('\r\n\r\n')
    if (end === -1) return false
    const [first, ...rest] = this.#take(end + 4)
      .toString('latin1', 0, end)
      .split('\r\n') as [string, ...string[]]
    const [method, path] = first.split(' ') as [string, string]
    const headers = fieldsIn(rest)
    this.#left = Number(headers['content-length'] ?? 0)
    this.#framing =
      headers['transfer-encoding'] === 'chunked' ? 'chunked' : this.#left > 0 ? 'length' : 'none'
    const exchange = new Http1Exchange(this, method, path, headers)
    this.#current = exchange
    this.#script(exchange)
    return true
  }

  #readBody(exchange: Http1Exchange): boolean {
    if (this.#framing === 'chunked') return this.#readChunk(exchange)
    if (this.#framing === 'trailers') return this.#readTrailers(exchange)
    if (this.#left > 0) {
      if (this.#input.length === 0) return false
      const bytes = this.#take(Math.min(this.#left, this.#input.length))
      this.#left -= bytes.length
      exchange.accept(bytes)
    }
    if (this.#left > 0) return false
    exchange.complete()
    return true
  }

  #readChunk(exchange: Http1Exchange): boolean {
    const lineEnd = this.#input.indexOf('\r\n')
    if (lineEnd === -1) return false
    const size = Number.parseInt(this.#input.toString('latin1', 0, lineEnd), 16)
    if (size === 0) {
      this.#take(lineEnd + 2)
      this.#framing = 'trailers'
      return true
    }
    const total = lineEnd + 2 + size + 2
    if (this.#input.length < total) return false
    exchange.accept(this.#take(total).subarray(lineEnd + 2, lineEnd + 2 + size))
    return true
  }

  #readTrailers(exchange: Http1Exchange): boolean {
    const isEmpty = this.#input.indexOf('\r\n') === 0
    const end = isEmpty ? 0 : this.#input.indexOf('\r\n\r\n')
    if (end === -1) return false
    const text = this.#take(isEmpty ? 2 : end + 4).toString('latin1', 0, end)
    exchange.trailers = fieldsIn(isEmpty ? [] : text.split('\r\n'))
    exchange.complete()
    return true
  }

  #take(length: number): Buffer {
    const bytes = this.#input.subarray(0, length)
    this.#input = this.#input.subarray(length)
    return bytes
  }
}

function fieldsIn(lines: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    fields[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  return fields
}

function lines(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}
