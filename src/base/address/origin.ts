/**
 * Owns the reading of the `url` argument of a client: which inputs name an origin, and the strings derived
 * from it. It knows no error class (base imports nothing): a refused input comes back as a message.
 * WHATWG URL is the only parser, so that no later layer sees another host than was checked here.
 */
import { parseUrl } from './parse-url.ts'
import { withoutBrackets } from './server-name.ts'

/** An origin, with every spelling of its host that the layers above need. */
export interface Origin {
  /** The caller's own object if it was a `URL`: events carry that same object. */
  readonly url: URL
  /** `https://[::1]:8443`; default ports are left out. */
  readonly origin: string
  readonly protocol: 'http:' | 'https:'
  /** Without IPv6 brackets. */
  readonly hostname: string
  /** With brackets, and with the port unless it is the default one: also what the host header has. */
  readonly host: string
  /** Empty for the default port. */
  readonly port: string
}

/** Why an input names no origin. */
export interface OriginProblem {
  readonly problem: string
}

type UrlField = 'origin' | 'protocol' | 'hostname' | 'port' | 'path' | 'pathname' | 'search' | 'hash'

const MAX_PORT = 65_535

/**
 * Reads the `url` argument of a client. A string that is not a URL throws the runtime's
 * `TypeError` (`ERR_INVALID_URL`); everything else that is wrong comes back as an {@link OriginProblem}.
 */
export function parseOrigin(input: unknown): Origin | OriginProblem {
  if (typeof input === 'string') return fromUrl(parseUrl(input))
  if (typeof input !== 'object' || input === null) {
    return { problem: 'Invalid URL: The URL argument must be a non-null object.' }
  }
  if (input instanceof URL) return fromUrl(input)
  const url = urlOfFields(input)
  return url instanceof URL ? fromUrl(url) : url
}

/**
 * The origin that a URL with a path belongs to. Not for a class of the caller's, whose properties may differ.
 */
export function originWithin(url: URL): string | OriginProblem {
  const { protocol } = url
  return isHttp(protocol) ? `${protocol}//${url.host}` : wrongProtocol()
}

function fromUrl(url: URL): Origin | OriginProblem {
  const protocol = url.protocol
  if (!isHttp(protocol)) return wrongProtocol()
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return { problem: 'invalid url' }
  const host = url.host
  return {
    url,
    origin: `${protocol}//${host}`,
    protocol,
    hostname: withoutBrackets(url.hostname),
    host,
    port: url.port,
  }
}

function urlOfFields(input: object): URL | OriginProblem {
  const port = fieldOf(input, 'port')
  if (!isAbsent(port) && port !== '' && !isPort(port)) {
    return {
      problem: 'Invalid URL: port must be a valid integer or a string representation of an integer.',
    }
  }
  for (const name of ['path', 'pathname', 'hostname', 'origin'] as const) {
    const value = fieldOf(input, name)
    if (!isAbsent(value) && typeof value !== 'string') {
      return { problem: `Invalid URL ${name}: the ${name} must be a string or null/undefined.` }
    }
  }
  const given = textOf(input, 'origin')
  const protocol = textOf(input, 'protocol')
  if (!hasHttpScheme(given || protocol)) return wrongProtocol()

  const hostname = textOf(input, 'hostname')
  // Such a character would end the host early: `{ hostname: 'a@b' }` must not connect to b.
  if (/[@/\\?#]/.test(hostname)) return { problem: 'invalid url' }
  const bracketed = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname
  const origin = given || `${protocol}//${bracketed}${isAbsent(port) || port === '' ? '' : `:${port}`}`
  const path =
    textOf(input, 'path') || textOf(input, 'pathname') + textOf(input, 'search') + textOf(input, 'hash')
  const base = origin.endsWith('/') ? origin.slice(0, -1) : origin
  return parseUrl(path === '' || path.startsWith('/') ? base + path : `${base}/${path}`)
}

/** A polluted `Object.prototype` must not choose the host; getters of URL-like classes are fine. */
export function fieldOf(input: object, name: UrlField): unknown {
  if (name in Object.prototype && !Object.hasOwn(input, name)) return undefined
  return (input as Partial<Record<UrlField, unknown>>)[name]
}

export function textOf(input: object, name: UrlField): string {
  const value = fieldOf(input, name)
  return typeof value === 'string' ? value : ''
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined
}

function isPort(value: unknown): boolean {
  if (typeof value === 'string') return /^\d{1,5}$/.test(value) && Number(value) <= MAX_PORT
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_PORT
}

function isHttp(protocol: string): protocol is Origin['protocol'] {
  return protocol === 'http:' || protocol === 'https:'
}

function hasHttpScheme(text: string): boolean {
  return text.startsWith('http:') || text.startsWith('https:')
}

function wrongProtocol(): OriginProblem {
  return { problem: 'Invalid URL protocol: the URL must start with `http:` or `https:`.' }
}
