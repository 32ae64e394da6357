/**
 * Reads the URL of a proxy: where it is, and which credentials it asks for. Everything that others see of it is without the
 * user info.
 */

import { type Origin, parseOrigin } from '../base/origin.ts'
import { parseUrl } from '../base/parse-url.ts'
import { InvalidArgumentError } from '../errors.ts'

export interface ProxyAddress {
  readonly origin: Origin
  /** For errors and people. */
  readonly uri: string
  /** The value of `proxy-authorization` for the user info of the URL; null without. */
  readonly authorization: string | null
}

/** A string that is not a URL throws the runtime's `TypeError`. */
export function readProxyAddress(given: string | URL): ProxyAddress {
  const url = parseUrl(given)
  const authorization = basicOf(url)
  url.username = ''
  url.password = ''
  const origin = parseOrigin(url)
  if ('problem' in origin) throw new InvalidArgumentError(origin.problem)
  return { origin, uri: origin.origin, authorization }
}

function basicOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return null
  return basic(`${decoded(username)}:${decoded(password)}`)
}

/** RFC 7617, in UTF-8. */
function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`
}

/** The message leaves the value out: it is part of a password. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new InvalidArgumentError('the user info of the proxy uri is not percent-encoded')
  }
}
