/** Reads the URL of a SOCKS 5 proxy and the credentials in it, which are in no text for errors. */

import { parseUrl } from '../base/address/parse-url.ts'
import { withoutBrackets } from '../base/address/server-name.ts'
import { InvalidArgumentError } from '../errors.ts'
import { isString, type OptionTable, option, readOptions } from '../options.ts'
import { MAX_FIELD_LENGTH } from '../protocol/socks5/constants.ts'
import type { Credentials } from '../protocol/socks5/messages.ts'

export interface Socks5Address {
  /** For errors and logs. */
  readonly uri: string
  /** Without brackets. */
  readonly hostname: string
  /** As in URLs, with brackets and without the port. */
  readonly host: string
  readonly port: number
  readonly credentials: Credentials | null
}

/** `socks5h:` means that the proxy resolves the names. Here it always does. */
const PROTOCOLS: ReadonlySet<string> = new Set(['socks5:', 'socks5h:', 'socks:'])

const DEFAULT_PORT = 1080

const CREDENTIALS: OptionTable<{ username: string | null; password: string | null }> = {
  username: option(null, isString, 'username must be a string'),
  password: option(null, isString, 'password must be a string'),
}

export function isSocks5Protocol(protocol: string): boolean {
  return PROTOCOLS.has(protocol)
}

/**
 * Credentials in `options` come before the user info of the URL. A string that is not a URL throws the
 * runtime's `TypeError`.
 */
export function readSocks5Address(given: unknown, options: object = {}): Socks5Address {
  if (!given) throw new InvalidArgumentError('Proxy URL is mandatory')
  const url = typeof given === 'string' ? parseUrl(given) : given
  if (!(url instanceof URL) || !isSocks5Protocol(url.protocol)) {
    throw new InvalidArgumentError('Proxy URL must use socks5:// or socks:// protocol')
  }
  // The URL parser normalises hosts only for the schemes it knows.
  const host = parseUrl(`http://${url.hostname}`).hostname
  const port = Number(url.port || DEFAULT_PORT)
  const { username, password } = readOptions(CREDENTIALS, options)
  return {
    uri: `${url.protocol}//${host}${url.port && `:${url.port}`}`,
    hostname: withoutBrackets(host),
    host,
    port,
    credentials: readCredentials(
      username ?? decodeUserInfo(url.username, 'URL'),
      password ?? decodeUserInfo(url.password, 'URL'),
    ),
  }
}

function readCredentials(username: string, password: string): Credentials | null {
  if (username === '' && password === '') return null
  const credentials = { username: Buffer.from(username), password: Buffer.from(password) }
  if (Math.max(credentials.username.length, credentials.password.length) > MAX_FIELD_LENGTH) {
    throw new InvalidArgumentError('Username or password too long')
  }
  return credentials
}

/** The message leaves the value out: it is part of a password. */
export function decodeUserInfo(text: string, name: 'uri' | 'URL'): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new InvalidArgumentError(`the user info of the proxy ${name} is not percent-encoded`)
  }
}
