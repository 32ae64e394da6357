/**
 * The `Sec-WebSocket-Extensions` field (RFC 6455 §9.1) and the answers that a server may give to our one
 * offer, permessage-deflate (RFC 7692 §7).
 */
import { TOKEN_BYTE } from '../ascii.ts'

/** `client_max_window_bits` lets the server choose a smaller window for what we send. */
export const OFFER = 'permessage-deflate; client_max_window_bits'

const DEFLATE = 'permessage-deflate'

export interface DeflateParameters {
  /** Of the server's compressor; null when it named a window that cannot be. */
  readonly serverWindowBits: number | null
  readonly serverNoContextTakeover: boolean
  readonly clientWindowBits: number
  readonly clientNoContextTakeover: boolean
}

export interface Extension {
  readonly name: string
  /** In order; null for one without a value. */
  readonly parameters: readonly (readonly [name: string, value: string | null])[]
}

const LARGEST_WINDOW = 15
const WINDOW_BITS = /^(?:[89]|1[0-5])$/

const TAB = 0x09
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const SEMICOLON = 0x3b
const EQUALS = 0x3d
const BACKSLASH = 0x5c

/** The parameters the server chose, or why they are refused. */
export function readAgreement(value: string): DeflateParameters | string {
  const extensions = parseExtensions(value)
  if (extensions === null) return 'Invalid Sec-WebSocket-Extensions header'
  const [extension] = extensions
  if (extensions.length !== 1 || extension!.name !== DEFLATE)
    return 'Server chose an extension that was not offered'
  return readDeflate(extension!) ?? 'Invalid permessage-deflate parameters'
}

function readDeflate({ parameters }: Extension): DeflateParameters | null {
  const values = new Map(parameters)
  if (values.size !== parameters.length) return null
  for (const [name, value] of parameters) {
    switch (name) {
      case 'server_no_context_takeover':
      case 'client_no_context_takeover':
        if (value !== null) return null
        break
      case 'client_max_window_bits':
        // Some servers repeat the offer, which has no value.
        if (value !== null && !WINDOW_BITS.test(value)) return null
        break
      case 'server_max_window_bits':
        break
      default:
        return null
    }
  }
  const serverBits = values.get('server_max_window_bits') ?? ''
  return {
    serverWindowBits:
      serverBits === '' ? LARGEST_WINDOW : WINDOW_BITS.test(serverBits) ? Number(serverBits) : null,
    serverNoContextTakeover: values.has('server_no_context_takeover'),
    clientWindowBits: Number(values.get('client_max_window_bits') ?? LARGEST_WINDOW),
    clientNoContextTakeover: values.has('client_no_context_takeover'),
  }
}

/** In one pass over the characters. Null when it is not such a list. */
export function parseExtensions(value: string): Extension[] | null {
  const extensions: Extension[] = []
  const cursor = new Cursor(value)
  do {
    const name = cursor.token()
    if (name === null) return null
    const parameters: [string, string | null][] = []
    while (cursor.skip(SEMICOLON)) {
      const parameter = cursor.token()
      if (parameter === null) return null
      let text: string | null = null
      if (cursor.skip(EQUALS)) {
        text = cursor.value()
        if (text === null) return null
      }
      parameters.push([parameter, text])
    }
    extensions.push({ name, parameters })
  } while (cursor.skip(COMMA))
  return cursor.atEnd ? extensions : null
}

class Cursor {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** Over this character, if it is next, and the white space around. */
  skip(character: number): boolean {
    this.#skipSpace()
    if (this.#text.charCodeAt(this.#at) !== character) return false
    this.#at++
    this.#skipSpace()
    return true
  }

  token(): string | null {
    const start = this.#at
    while (TOKEN_BYTE[this.#text.charCodeAt(this.#at)] === 1) this.#at++
    return this.#at === start ? null : this.#text.slice(start, this.#at)
  }

  /** A token, possibly none at all, or a quoted string. */
  value(): string | null {
    if (this.#text.charCodeAt(this.#at) !== QUOTE) return this.token() ?? ''
    let text = ''
    for (let i = this.#at + 1; i < this.#text.length; i++) {
      const code = this.#text.charCodeAt(i)
      if (code === QUOTE) {
        this.#at = i + 1
        return text
      }
      if (code === BACKSLASH) i++
      text += this.#text.charAt(i)
    }
    return null
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== SPACE && code !== TAB) return
      this.#at++
    }
  }
}
