/** From the options to the request: its URL, its fields, and its body from texts, files and standard input. */
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { CookieJar } from '../index.ts'
import { readJar } from './cookie-file.ts'
import { onFile } from './file-error.ts'
import { formOf } from './form.ts'
import { packageVersion } from './information.ts'
import type { Outgoing } from './message.ts'
import { type Given, type Options, UsageError } from './options.ts'

/** A body is held in memory because it may be sent more than once; an upload is not. */
const LARGEST_DATA = 256 * 1024 * 1024

interface Body {
  readonly bytes: Buffer | null
  readonly type: string | null
}

const NO_BODY: Body = { bytes: null, type: null }

/** What all URLs of a command have in common. */
export class Requests {
  readonly #options: Options
  readonly #stdin: Readable
  readonly #body: Body
  readonly #cookies: string
  /** Null: cookies are neither sent nor kept. */
  readonly jar: CookieJar | null

  private constructor(options: Options, stdin: Readable, body: Body, jar: CookieJar | null) {
    this.#options = options
    this.#stdin = stdin
    this.#body = body
    this.#cookies = options.cookies.filter((cookie) => cookie.includes('=')).join('; ')
    this.jar = jar
  }

  static async read(options: Options, stdin: Readable): Promise<Requests> {
    return new Requests(options, stdin, await bodyOf(options.data, stdin), await jarOf(options))
  }

  /** The request for one of the URLs. */
  async for({ url: given, authorization }: Options['targets'][number]): Promise<Outgoing> {
    const { user, timeout, retry, location, compressed, referer, get, head } = this.#options
    const agent = this.#options['user-agent'] ?? `ventuno/${packageVersion()}`
    const { bytes, type } = this.#body
    const upload = this.#options['upload-file']
    const url = new URL(given)
    if (get && bytes !== null) url.search += `${url.search === '' ? '' : '&'}${inQuery(bytes)}`
    if (upload !== undefined && url.pathname.endsWith('/'))
      url.pathname += encodeURIComponent(basename(upload))
    const body = upload === undefined ? (get ? null : bytes) : await this.#open(upload)
    const size =
      upload === undefined || upload === '-'
        ? null
        : (await onFile('read', upload, (name) => stat(name))).size
    const credentials = user === undefined ? authorization : basicOf(user)
    const added: [string, string | null | undefined][] = [
      ['user-agent', agent || null],
      ['accept', '*/*'],
      ['referer', referer || null],
      ['cookie', this.#cookies || null],
      ['authorization', credentials],
      ['content-type', body === null ? null : type],
      ['content-length', size === null ? null : String(size)],
    ]
    const own = new Set(this.#options.headers.map(([name]) => name.toLowerCase()))
    const fields = [...added.filter(([name]) => !own.has(name)), ...this.#options.headers]
    const usual = head ? 'HEAD' : upload !== undefined ? 'PUT' : body === null ? 'GET' : 'POST'
    return {
      url,
      timeout,
      retry,
      location,
      compressed,
      method: this.#options.method ?? usual,
      headers: fields.filter((field): field is [string, string] => typeof field[1] === 'string'),
      body,
      size: size ?? (Buffer.isBuffer(body) ? body.length : 0),
      jar: this.jar,
    }
  }

  async #open(name: string): Promise<Readable> {
    if (name === '-') return this.#stdin
    const file = await onFile('read', name, (path) => open(path))
    return createReadStream(name, { fd: file })
  }
}

function inQuery(bytes: Buffer): string {
  return percentEncoded(bytes, /[^!-~]/g)
}

function percentEncoded(bytes: Buffer, unsafe: RegExp): string {
  return bytes.toString('latin1').replace(unsafe, (sign) => {
    return `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  })
}

/** Nobody is asked for a password that is not given: it would be in nobody's script. */
function basicOf(user: string): string {
  if (!user.includes(':')) throw new UsageError("--user is written 'name:password'")
  return `Basic ${Buffer.from(user).toString('base64')}`
}

async function bodyOf(data: readonly Given[], stdin: Readable): Promise<Body> {
  const [first] = data
  if (first === undefined) return NO_BODY
  const read = (name: string): Promise<Buffer> => readAll(name, stdin)
  if (first.name === 'form') {
    const boundary = `------------------------${randomBytes(8).toString('hex')}`
    const { body, type } = await formOf(
      data.map(({ value }) => value),
      boundary,
      read,
    )
    return { bytes: body, type }
  }
  const pieces: Buffer[] = []
  for (const given of data) {
    if (pieces.length > 0 && given.name !== 'json-body') pieces.push(Buffer.from('&'))
    pieces.push(await pieceOf(given, read))
  }
  const bytes = Buffer.concat(pieces)
  if (first.name !== 'json-body') return { bytes, type: 'application/x-www-form-urlencoded' }
  checkJson(bytes.toString())
  return { bytes, type: 'application/json' }
}

/** The message does not repeat the text, which may have secrets. */
function checkJson(text: string): void {
  try {
    JSON.parse(text)
  } catch (error) {
    const position = /\bposition \d+/.exec((error as Error).message)?.[0]
    throw new UsageError(`--json-body is not valid JSON${position === undefined ? '' : ` (at ${position})`}`)
  }
}

async function pieceOf({ name, value }: Given, read: (name: string) => Promise<Buffer>): Promise<Buffer> {
  if (name === 'data-urlencode') return encodedPiece(value, read)
  if (name === 'data-raw' || !value.startsWith('@')) return Buffer.from(value)
  const content = await read(value.slice(1))
  // As curl does: a file that an editor wrote ends with a line break, and a form has none.
  return name === 'data'
    ? Buffer.from(content.toString('latin1').replace(/[\r\n\0]/g, ''), 'latin1')
    : content
}

/** `text`, `=text`, `name=text`, `@file` or `name@file`; the name is sent as it is. */
async function encodedPiece(value: string, read: (name: string) => Promise<Buffer>): Promise<Buffer> {
  const [, name = '', sign, rest = ''] = /^([^=@]*)([=@])(.*)$/s.exec(value) ?? ['', '', '=', value]
  const content = sign === '@' ? await read(rest) : Buffer.from(rest)
  return Buffer.from(
    `${name}${name === '' ? '' : '='}${percentEncoded(content, /[^\w.~-]/g).replaceAll('%20', '+')}`,
  )
}

/** The content of a file; `-` is standard input. */
export async function readAll(given: string, stdin: Readable): Promise<Buffer> {
  return onFile('read', given, async (name) => {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of name === '-' ? stdin : (await open(name)).createReadStream()) {
      size += chunk.length
      if (size > LARGEST_DATA) throw new Error(`it has more than ${LARGEST_DATA} bytes`)
      chunks.push(Buffer.from(chunk))
    }
    return Buffer.concat(chunks)
  })
}

/** The cookies of the files of `--cookie` and `--cookie-jar`. */
async function jarOf(options: Options): Promise<CookieJar | null> {
  const own = options['cookie-jar']
  const files = options.cookies.filter((cookie) => !cookie.includes('=') && cookie !== '')
  if (own === undefined && files.length === 0) return null
  if (files.length === 0 && own !== undefined)
    return own === '-' ? new CookieJar() : onFile('read', own, readJar)
  const texts = await Promise.all(
    files.map((name) => onFile('read', name, (path) => readFile(path, 'latin1'))),
  )
  return CookieJar.fromNetscape(texts.join('\n'))
}
