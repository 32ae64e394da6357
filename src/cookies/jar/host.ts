/**
 * The hosts of cookies: whether one host is in the domain of another (RFC 6265bis §5.1.3), which hosts
 * are addresses, and which are this machine. Hosts are canonical, as `URL` writes them: ASCII, lower case,
 * addresses in their one form.
 */

/** An IPv6 literal in brackets, or an IPv4 address: the URL parser lets no other host end in a number. */
export function isAddress(host: string): boolean {
  return host.startsWith('[') || /^[0-9]+$/.test(host.slice(host.lastIndexOf('.') + 1))
}

/**
 * The same host, or one below the domain. An address has nothing above it: `4.1.2.3` is not in the domain
 * `1.2.3`.
 */
export function domainMatches(host: string, domain: string): boolean {
  if (host === domain) return true
  return host.endsWith(domain) && host.at(-domain.length - 1) === '.' && domain !== '' && !isAddress(host)
}

/**
 * A domain that a cookie may name: labels of ASCII, none of them empty. `com.` has one label, which an empty
 * one at its end would hide.
 */
export function isDomain(text: string): boolean {
  return !text.split('.').includes('') && !/[^!-~]/.test(text)
}

/**
 * `localhost`, names below it (RFC 6761 §6.3), and the loopback addresses: no network carries what goes
 * there.
 */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '[::1]') return true
  return host.startsWith('127.') && isAddress(host)
}
