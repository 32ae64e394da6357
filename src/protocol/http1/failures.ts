/**
 * The names under which the HTTP/1.1 engine reports what a peer did wrong. `HPE_*` names reach the user as
 * `HTTPParserError.code`; the others are turned into other public errors by the connection layer.
 */
import type { ProtocolFailure } from '../failure.ts'

/** Violations of RFC 9112, under the code names users of HTTP parsers know. */
export const HPE_INVALID_CONSTANT = 'HPE_INVALID_CONSTANT'
export const HPE_INVALID_VERSION = 'HPE_INVALID_VERSION'
export const HPE_INVALID_STATUS = 'HPE_INVALID_STATUS'
export const HPE_CR_EXPECTED = 'HPE_CR_EXPECTED'
export const HPE_LF_EXPECTED = 'HPE_LF_EXPECTED'
export const HPE_STRICT = 'HPE_STRICT'
export const HPE_INVALID_HEADER_TOKEN = 'HPE_INVALID_HEADER_TOKEN'
export const HPE_INVALID_CONTENT_LENGTH = 'HPE_INVALID_CONTENT_LENGTH'
export const HPE_UNEXPECTED_CONTENT_LENGTH = 'HPE_UNEXPECTED_CONTENT_LENGTH'
export const HPE_INVALID_TRANSFER_ENCODING = 'HPE_INVALID_TRANSFER_ENCODING'
export const HPE_INVALID_CHUNK_SIZE = 'HPE_INVALID_CHUNK_SIZE'
export const HPE_CHUNK_EXTENSIONS_OVERFLOW = 'HPE_CHUNK_EXTENSIONS_OVERFLOW'
/** EOF inside a chunked body of a response that announced `connection: close`. */
export const HPE_INVALID_EOF_STATE = 'HPE_INVALID_EOF_STATE'

/** Bytes that answer no request: a late, injected or surplus response. */
export const UNSOLICITED = 'UNSOLICITED'
/** More interim responses to one request than `MAX_INTERIM_HEADS`, within `INTERIM_WINDOW_MS`. */
export const TOO_MANY_INTERIM = 'TOO_MANY_INTERIM'
/** 101 that was not asked for, or that lacks the fields of an upgrade. */
export const BAD_UPGRADE = 'BAD_UPGRADE'
export const HEADERS_OVERFLOW = 'HEADERS_OVERFLOW'
/** EOF inside a counted body of a response that announced `connection: close`. */
export const CONTENT_LENGTH_MISMATCH = 'CONTENT_LENGTH_MISMATCH'
/** The peer closed while a response was owed and its final head was not complete. */
export const EOF_BEFORE_HEAD = 'EOF_BEFORE_HEAD'
/** The peer closed inside the body of a response that promised to keep the connection. */
export const EOF_IN_BODY = 'EOF_IN_BODY'

/** Everything that goes wrong in HTTP/1.1 ends the connection: its framing is lost. */
export function peerFailure(code: string, message: string): ProtocolFailure {
  return { scope: 'connection', blame: 'peer', code, message }
}
