/** Reads the URL of a proxy and the credentials in it, which are in no text for errors. */
import type { Origin } from '../base/address/origin.ts'
import { parseUrl } from '../base/address/parse-url.ts'
import { checkedOrigin } from '../dispatcher/checked-origin.ts'
import { InvalidArgumentError } from '../errors.ts'
import { decodeUserInfo, isSocks5Protocol, readSocks5Address, type Socks5Address } from './socks5-address.ts'

export interface HttpProxyAddress {
  readonly origin: Origin
  /** For errors and logs. */
  readonly uri: string
  /** The value of `proxy-authorization` for the user info of the URL; null without. */
  readonly authorization: string | null
}

export type ProxyAddress = HttpProxyAddress | Socks5Address

/** The scheme decides which kind it is. A string that is not a URL throws the runtime's `TypeError`. */
export function readProxyAddress(given: string | URL): ProxyAddress {
  const url = parseUrl(given)
  if (!isSocks5Protocol(url.protocol)) return readHttpAddress(url)
  const { pathname, search, hash } = url
  if (!['', '/'].includes(pathname) || search !== '' || hash !== '') {
    throw new InvalidArgumentError('invalid url')
  }
  return readSocks5Address(url)
}

export function isHttpProxy(address: ProxyAddress): address is HttpProxyAddress {
  return 'authorization' in address
}

/** Changes the URL. */
function readHttpAddress(url: URL): HttpProxyAddress {
  const authorization = basicOf(url)
  url.username = ''
  url.password = ''
  const origin = checkedOrigin(url)
  return { origin, uri: origin.origin, authorization }
}

/** RFC 7617, in UTF-8. */
function basicOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return null
  const credentials = `${decodeUserInfo(username, 'uri')}:${decodeUserInfo(password, 'uri')}`
  return `Basic ${Buffer.from(credentials).toString('base64')}`
}
