/** The URL of a proxy of any kind: the scheme says which. */
import { parseUrl } from '../base/parse-url.ts'
import { InvalidArgumentError } from '../errors.ts'
import { type ProxyAddress, readProxyAddress } from './proxy-address.ts'
import { isSocks5Protocol, readSocks5Address, type Socks5Address } from './socks5-address.ts'

export type AnyProxyAddress = ProxyAddress | Socks5Address

/** A string that is not a URL throws the runtime's `TypeError`. */
export function readAnyProxyAddress(given: string | URL): AnyProxyAddress {
  const url = parseUrl(given)
  if (!isSocks5Protocol(url.protocol)) return readProxyAddress(url)
  const { pathname, search, hash } = url
  if (!['', '/'].includes(pathname) || search !== '' || hash !== '') {
    throw new InvalidArgumentError('invalid url')
  }
  return readSocks5Address(url)
}

export function isHttpProxy(address: AnyProxyAddress): address is ProxyAddress {
  return 'authorization' in address
}
