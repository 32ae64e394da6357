/**
 * Reads options past a polluted `Object.prototype`: a bug elsewhere in the process that lets an attacker
 * write there must not add a header, a body or a trusted certificate to requests (axios CVE-2026-42264 and
 * its relatives).
 */

/**
 * A copy of the options, with those of their class, without what they inherit from `Object.prototype`.
 * Anything but an object is returned as it is.
 */
export function ownMembers<T>(options: T): T {
  if (typeof options !== 'object' || options === null) return options
  const members = Object.create(null) as Record<PropertyKey, unknown>
  let owner: object | null = options
  while (owner !== null && owner !== Object.prototype) {
    for (const name of Reflect.ownKeys(owner)) {
      if (!(name in members)) members[name] = Reflect.get(options, name)
    }
    owner = Reflect.getPrototypeOf(owner)
  }
  return members as T
}

/**
 * For the options of a request, which come with every call: returns them unchanged as long as
 * `Object.prototype` has nothing that would be read as one of them, and otherwise a copy.
 */
export function withoutPollution<T>(options: T): T {
  return isPolluted() ? ownMembers(options) : options
}

const ANY: object = {}

/**
 * Whether `Object.prototype` has an enumerable property, which is what an assignment makes, or the name of an
 * option of a request. To list all its names costs two microseconds; to ask for one that is a constant costs
 * nothing once this is compiled.
 */
function isPolluted(): boolean {
  for (const _ in Object.prototype) return true
  return (
    'agent' in ANY ||
    'allowH2' in ANY ||
    'blocking' in ANY ||
    'body' in ANY ||
    'bodyTimeout' in ANY ||
    'cache' in ANY ||
    'cookies' in ANY ||
    'credentials' in ANY ||
    'dispatcher' in ANY ||
    'dumpMaxSize' in ANY ||
    'duplex' in ANY ||
    'expectContinue' in ANY ||
    'hash' in ANY ||
    'headers' in ANY ||
    'headersTimeout' in ANY ||
    'highWaterMark' in ANY ||
    'host' in ANY ||
    'hostname' in ANY ||
    'idempotent' in ANY ||
    'integrity' in ANY ||
    'keepalive' in ANY ||
    'maxRedirections' in ANY ||
    'method' in ANY ||
    'mode' in ANY ||
    'objectMode' in ANY ||
    'onInfo' in ANY ||
    'opaque' in ANY ||
    'origin' in ANY ||
    'path' in ANY ||
    'pathname' in ANY ||
    'port' in ANY ||
    'priority' in ANY ||
    'protocol' in ANY ||
    'query' in ANY ||
    'redirect' in ANY ||
    'referrer' in ANY ||
    'referrerPolicy' in ANY ||
    'requestBodyTimeout' in ANY ||
    'reset' in ANY ||
    'responseHeaders' in ANY ||
    'retryOptions' in ANY ||
    'search' in ANY ||
    'servername' in ANY ||
    'signal' in ANY ||
    'status' in ANY ||
    'statusText' in ANY ||
    'stripHeadersOnCrossOriginRedirect' in ANY ||
    'stripHeadersOnRedirect' in ANY ||
    'throwOnError' in ANY ||
    'throwOnMaxRedirect' in ANY ||
    'trailers' in ANY ||
    'typeOfService' in ANY ||
    'upgrade' in ANY ||
    'window' in ANY
  )
}

/** What the language puts there. */
const STANDARD: ReadonlySet<string> = new Set(
  (
    '__defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ __proto__ constructor ' +
    'hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf'
  ).split(' '),
)

const NO_NAMES: ReadonlySet<string> = new Set()

/**
 * For options that the runtime reads, or copies onto its own ordinary objects: covers the properties that it
 * would find on their prototype. Names in `withDefault` have a default there, which an `undefined` would
 * remove.
 */
export function coverPollution<T extends object>(options: T, withDefault: ReadonlySet<string> = NO_NAMES): T {
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    if (STANDARD.has(name) || Object.hasOwn(options, name) || withDefault.has(name)) continue
    Object.defineProperty(options, name, { value: undefined, writable: true, enumerable: true })
  }
  return options
}
