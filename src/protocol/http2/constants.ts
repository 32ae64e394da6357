/**
 * The numbers of RFC 9113 (and RFC 8441): frame types, flags, settings, error codes, stream id and window
 * bounds. All of it is given by the RFC; `limits.ts` has our choices.
 */

/** RFC 9113 §3.4: the first bytes of a client. */
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** RFC 9113 §4.1. */
export const FRAME_HEADER_BYTES = 9

export const DATA = 0
export const HEADERS = 1
export const PRIORITY = 2
export const RST_STREAM = 3
export const SETTINGS = 4
export const PUSH_PROMISE = 5
export const PING = 6
export const GOAWAY = 7
export const WINDOW_UPDATE = 8
export const CONTINUATION = 9

export const FLAG_ACK = 0x1
export const FLAG_END_STREAM = 0x1
export const FLAG_END_HEADERS = 0x4
export const FLAG_PADDED = 0x8
export const FLAG_PRIORITY = 0x20

export const SETTINGS_HEADER_TABLE_SIZE = 1
export const SETTINGS_ENABLE_PUSH = 2
export const SETTINGS_MAX_CONCURRENT_STREAMS = 3
export const SETTINGS_INITIAL_WINDOW_SIZE = 4
export const SETTINGS_MAX_FRAME_SIZE = 5
export const SETTINGS_MAX_HEADER_LIST_SIZE = 6
/** RFC 8441 §3. */
export const SETTINGS_ENABLE_CONNECT_PROTOCOL = 8
/** Identifier (2) and value (4). */
export const SETTINGS_ENTRY_BYTES = 6

export const NO_ERROR = 0
export const PROTOCOL_ERROR = 1
export const INTERNAL_ERROR = 2
export const FLOW_CONTROL_ERROR = 3
export const SETTINGS_TIMEOUT = 4
export const STREAM_CLOSED = 5
export const FRAME_SIZE_ERROR = 6
export const REFUSED_STREAM = 7
export const CANCEL = 8
export const COMPRESSION_ERROR = 9
export const CONNECT_ERROR = 10
export const ENHANCE_YOUR_CALM = 11
export const INADEQUATE_SECURITY = 12
export const HTTP_1_1_REQUIRED = 13

const ERROR_NAMES: readonly string[] = (
  'NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR ' +
  'REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED'
).split(' ')

/** The name of an error code for messages; unknown ones keep their number (RFC 9113 §7 allows any). */
export function errorCodeName(code: number): string {
  return ERROR_NAMES[code] ?? `error code ${code}`
}

/** Failure code of a response whose head or trailers exceed `maxHeaderSize` or the number of fields. */
export const HEADERS_TOO_LARGE = 'H2_HEADERS_TOO_LARGE'

/** Failure code of a response with more or less content than its content-length says (RFC 9113 §8.1.1). */
export const LENGTH_MISMATCH = 'H2_LENGTH_MISMATCH'

/** RFC 9113 §4.2: the least and the greatest SETTINGS_MAX_FRAME_SIZE; the least is also the default. */
export const MIN_MAX_FRAME_SIZE = 16_384
export const MAX_MAX_FRAME_SIZE = 16_777_215

/** RFC 9113 §6.9.1 and §6.9.2. */
export const MAX_WINDOW = 0x7fff_ffff
export const DEFAULT_WINDOW = 65_535

/** RFC 9113 §5.1.1: ids have 31 bits; a client's are odd. */
export const MAX_STREAM_ID = 0x7fff_ffff
/** RFC 7541 §4.2 by way of RFC 9113 §6.5.2. */
export const DEFAULT_HEADER_TABLE_SIZE = 4096
