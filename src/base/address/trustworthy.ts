/** Whether what is sent to a URL can be read or changed on its way. */

/** Loopback: addresses of 127.0.0.0/8 and ::1, and the names that never leave the machine (RFC 6761 §6.3). */
const LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\]|(?:.+\.)?localhost\.?)$/

/** A URL over TLS, or to this machine (W3C Secure Contexts §3.1). */
export function isTrustworthy({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || protocol === 'wss:' || LOOPBACK.test(hostname)
}
