/**
 * Owns the host of a cookie: whether one host is in the domain of another (RFC 6265bis §5.1.3), which hosts are addresses, and
 * which are this machine. Hosts are canonical, as `URL` writes them: ASCII, lower case, addresses in their one form.
 */

/** An IPv6 literal in brackets, or an IPv4 address: the URL parser lets no other host end in a number. */
export function isAddress(host: string): boolean {
  if (host.startsWith('[')) return true
  const last = host.slice(host.lastIndexOf('.') + 1)
  return last !== '' && isDigits(last)
}

function isDigits(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}

/** The same host, or one below the domain. An address has nothing above it: `4.1.2.3` is not in the domain `1.2.3`. */
export function domainMatches(host: string, domain: string): boolean {
  if (host === domain) return true
  return host.endsWith(domain) && host.at(-domain.length - 1) === '.' && domain !== '' && !isAddress(host)
}

/**
 * A domain that a cookie may name: labels of ASCII, none of them empty. `com.` has one label, which an empty one at its end
 * would hide.
 */
export function isDomain(text: string): boolean {
  if (text === '' || text.startsWith('.') || text.endsWith('.') || text.includes('..')) return false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code <= 0x20 || code >= 0x7f) return false
  }
  return true
}

/** `localhost`, names below it (RFC 6761 §6.3), and the loopback addresses: no network carries what goes there. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '[::1]') return true
  return host.startsWith('127.') && isAddress(host)
}
