/**
 * Owns the list of hosts that are reached without a proxy, in the notation of the variable NO_PROXY, which no
 * standard defines: names with their subdomains, `*`, IP addresses, blocks and ranges of them, each with an
 * optional port. The host of a URL is compared as it is written there, and never resolved.
 */
import { domainToASCII } from 'node:url'
import { ipBytes } from '../base/address/ip-address.ts'
import { readIpSet } from '../base/address/ip-set.ts'
import { withoutBrackets } from '../base/address/server-name.ts'
import { mapped, withoutMapping } from '../guard/embedded-ipv4.ts'
import { splitPort } from '../guard/host-entry.ts'
import { portOf } from '../guard/place.ts'

/** The host of a URL, in the forms that entries are compared with. */
interface Host {
  /** Lower case, in the form of DNS, without a dot at the end. */
  readonly name: string
  /** Null for a name. */
  readonly address: Uint8Array | null
  readonly port: number
}

/** One entry that can apply: others, such as `http://x.test` or `<local>`, are left out of the list. */
interface Entry {
  /** As it is in the list. */
  readonly text: string
  /** Null for any port. */
  readonly port: number | null
  readonly matches: (host: Host) => boolean
}

/** Delimiters of URLs, wildcards and zones: none can be in the name of a host. */
const NOT_IN_NAMES = /[\s#%*/:<>?@[\\\]^|]/

export class NoProxyList {
  readonly #entries: readonly Entry[]

  /** @param text Entries between commas or white space. */
  constructor(text: string) {
    this.#entries = text.split(/[\s,]+/).flatMap((entry) => readEntry(entry) ?? [])
  }

  /** The text of the first entry that applies to the host and port of a URL; null if none does. */
  match(url: URL): string | null {
    if (this.#entries.length === 0) return null
    const host = hostOf(url)
    const entry = this.#entries.find(
      ({ port, matches }) => (port === null || port === host.port) && matches(host),
    )
    return entry?.text ?? null
  }
}

function hostOf(url: URL): Host {
  const name = withoutBrackets(withoutLastDot(url.hostname))
  return { name, address: ipBytes(name), port: portOf(url) }
}

function readEntry(text: string): Entry | null {
  const { host, port } = splitPort(text)
  const matches = host === '*' ? () => true : (readAddresses(host) ?? readName(host))
  return matches === null ? null : { text, port, matches }
}

function readAddresses(text: string): ((host: Host) => boolean) | null {
  // A name may have a hyphen, but not between two addresses.
  const set = readIpSet(text)
  if (!set) return null
  // An IPv4-mapped address is another spelling of the IPv4 address: a system connects to it over IPv4.
  const isMapped = /^\[?::ffff:/i.test(text)
  return ({ address }) =>
    address !== null &&
    (set(address) ||
      set(withoutMapping(address)) ||
      (isMapped && address.length === 4 && set(mapped(address))))
}

/**
 * `x.test` and `.x.test` are the host and everything below it, `*.x.test` only what is below. Addresses have
 * no subdomains: `0.0.1` is not an ending of 127.0.0.1.
 */
function readName(text: string): ((host: Host) => boolean) | null {
  const below = text.startsWith('*.')
  const bare = below ? text.slice(2) : text.startsWith('.') ? text.slice(1) : text
  const plain = withoutLastDot(bare)
  const name = plain === '' || NOT_IN_NAMES.test(plain) ? '' : domainToASCII(plain)
  if (name === '') return null
  const ending = `.${name}`
  return (host) => host.address === null && (host.name.endsWith(ending) || (!below && host.name === name))
}

function withoutLastDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name
}
