/**
 * The `Sec-WebSocket-Extensions` field (RFC 6455 §9.1) and the answers that a server may give to our one
 * offer, permessage-deflate (RFC 7692 §7).
 */

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

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]"
const NAME = new RegExp(`${TOKEN}+`, 'y')
/** A name and, perhaps, a value: a quoted string, or a token that may be missing. */
const PARAMETER = new RegExp(
  `[\\t ]*;[\\t ]*(${TOKEN}+)(?:[\\t ]*=[\\t ]*(?:"((?:[^"\\\\]|\\\\[\\s\\S])*)"|(${TOKEN}*)))?`,
  'y',
)
const COMMA = /[\t ]*,[\t ]*/y
const SPACE = /[\t ]*/y

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

/** Null when it is not such a list. */
export function parseExtensions(value: string): Extension[] | null {
  const extensions: Extension[] = []
  let at = 0
  const take = (expression: RegExp): RegExpExecArray | null => {
    expression.lastIndex = at
    const found = expression.exec(value)
    if (found !== null) at = expression.lastIndex
    return found
  }
  do {
    const name = take(NAME)
    if (name === null) return null
    const parameters: [string, string | null][] = []
    for (let found = take(PARAMETER); found !== null; found = take(PARAMETER)) {
      parameters.push([found[1]!, found[2]?.replace(/\\(.)/gs, '$1') ?? found[3] ?? null])
    }
    extensions.push({ name: name[0], parameters })
  } while (take(COMMA) !== null)
  take(SPACE)
  return at === value.length ? extensions : null
}
