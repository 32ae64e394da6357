/**
 * Fields that must not be trailers (RFC 9110 §6.5.1), because they frame or route a message, authenticate its
 * sender, or change how the message or its content is processed. They would come too late; merged into the
 * head without a check, they would allow smuggling.
 */
import { HeaderBlock } from './header-block.ts'
import { lowerCaseName } from './header-names.ts'

const FORBIDDEN: ReadonlySet<string> = new Set(
  (
    'authorization cache-control connection content-encoding content-length content-location ' +
    'content-range content-type cookie expect host http2-settings if-match if-modified-since ' +
    'if-none-match if-range if-unmodified-since keep-alive max-forwards pragma proxy-authorization ' +
    'proxy-connection range set-cookie te trailer transfer-encoding upgrade'
  ).split(' '),
)

/** Those that only responses have: they control caches and clients, or ask for credentials. */
const FORBIDDEN_IN_RESPONSES: ReadonlySet<string> = new Set(
  (
    'age clear-site-data date expires location proxy-authenticate retry-after set-cookie2 ' +
    'strict-transport-security vary warning www-authenticate'
  ).split(' '),
)

/** Whether a request must not have this trailer. */
export function isForbiddenTrailer(name: string): boolean {
  return FORBIDDEN.has(lowerCaseName(name))
}

/** The trailers of a response, without those that mean nothing there. */
export function permittedTrailers(trailers: HeaderBlock): HeaderBlock {
  if (trailers === HeaderBlock.EMPTY) return trailers
  const { flat } = trailers
  const permitted = flat.filter((_, i) => isPermitted(flat[i - (i % 2)]!))
  return permitted.length === flat.length ? trailers : new HeaderBlock(permitted)
}

function isPermitted(name: string): boolean {
  const lower = lowerCaseName(name)
  return !FORBIDDEN.has(lower) && !FORBIDDEN_IN_RESPONSES.has(lower)
}
