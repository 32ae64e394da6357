/** The three messages of a client: greeting, name and password, request (RFC 1928 §3 and §4, RFC 1929 §2). */
import { Buffer } from 'node:buffer'
import { invariant } from '../../base/error/invariant.ts'
import {
  AUTH_VERSION,
  CONNECT,
  DOMAIN_NAME,
  IPV4,
  IPV6,
  MAX_FIELD_LENGTH,
  NO_AUTH,
  RESERVED,
  USERNAME_PASSWORD,
  VERSION,
} from './constants.ts'

/** In UTF-8; at most 255 bytes each. */
export interface Credentials {
  readonly username: Uint8Array
  readonly password: Uint8Array
}

/** Where the proxy connects to. */
export interface Destination {
  /** A host name in ASCII, which the proxy resolves, or the 4 or 16 bytes of an IP address. */
  readonly address: string | Uint8Array
  readonly port: number
}

const IPV4_LENGTH = 4

const GREETING = Buffer.of(VERSION, 1, NO_AUTH)
const GREETING_WITH_CREDENTIALS = Buffer.of(VERSION, 2, USERNAME_PASSWORD, NO_AUTH)

export function encodeGreeting(withCredentials: boolean): Buffer {
  return Buffer.from(withCredentials ? GREETING_WITH_CREDENTIALS : GREETING)
}

export function encodeAuth({ username, password }: Credentials): Buffer {
  return Buffer.concat([
    Buffer.of(AUTH_VERSION, lengthOf(username)),
    username,
    Buffer.of(lengthOf(password)),
    password,
  ])
}

export function encodeRequest({ address, port }: Destination): Buffer {
  return Buffer.concat([
    Buffer.of(VERSION, CONNECT, RESERVED),
    encodeAddress(address),
    Buffer.of(port >> 8, port & 0xff),
  ])
}

function encodeAddress(address: string | Uint8Array): Buffer {
  if (typeof address !== 'string') {
    return Buffer.concat([Buffer.of(address.length === IPV4_LENGTH ? IPV4 : IPV6), address])
  }
  const name = Buffer.from(address, 'latin1')
  return Buffer.concat([Buffer.of(DOMAIN_NAME, lengthOf(name)), name])
}

/** A longer field would continue as other fields, which the proxy then reads from bytes of the caller. */
function lengthOf(field: Uint8Array): number {
  invariant(field.length <= MAX_FIELD_LENGTH, 'a field of SOCKS 5 is too long')
  return field.length
}
