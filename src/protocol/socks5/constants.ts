/** The numbers of SOCKS 5 (RFC 1928) and of its authentication by name and password (RFC 1929). */

export const VERSION = 0x05
/** Of the sub-negotiation for name and password (RFC 1929 §2). */
export const AUTH_VERSION = 0x01

export const NO_AUTH = 0x00
export const USERNAME_PASSWORD = 0x02
export const NO_ACCEPTABLE_METHOD = 0xff

export const CONNECT = 0x01
export const RESERVED = 0x00

export const IPV4 = 0x01
export const DOMAIN_NAME = 0x03
export const IPV6 = 0x04

export const SUCCEEDED = 0x00

/** The length of a name, of a user or of a password is one byte. */
export const MAX_FIELD_LENGTH = 255
