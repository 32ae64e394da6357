/** The options of `request()` and its siblings by name, for the warning about others. */
import type { PublicFunction } from '../base/error/public-call.ts'
import { withoutPollution } from '../base/object/own-options.ts'
import { OF_REQUESTS } from '../option-advice.ts'
import { OptionNames } from '../option-names.ts'
import type { PipelineOptions } from './pipeline.ts'
import type { RequestOptions } from './request.ts'
import type { UpgradeOptions } from './upgrade.ts'

type Name = keyof RequestOptions | keyof PipelineOptions | keyof UpgradeOptions | ElsewhereName

/** Of agents, of the functions that take a URL, and what was an option in earlier generations. */
type ElsewhereName =
  | ('allowH2' | 'throwOnError' | 'dispatcher' | 'agent')
  | ('hostname' | 'host' | 'port' | 'pathname' | 'search' | 'href' | 'hash')

const OPTIONS: Readonly<Record<Name, true>> = {
  agent: true,
  allowH2: true,
  blocking: true,
  body: true,
  bodyTimeout: true,
  cookies: true,
  dispatcher: true,
  dumpMaxSize: true,
  expectContinue: true,
  expectContinueTimeout: true,
  hash: true,
  headers: true,
  headersTimeout: true,
  highWaterMark: true,
  host: true,
  hostname: true,
  href: true,
  idempotent: true,
  maxRedirections: true,
  method: true,
  objectMode: true,
  onInfo: true,
  opaque: true,
  origin: true,
  path: true,
  pathname: true,
  port: true,
  priority: true,
  protocol: true,
  query: true,
  requestBodyTimeout: true,
  reset: true,
  responseHeaders: true,
  retryOptions: true,
  search: true,
  servername: true,
  signal: true,
  stripHeadersOnCrossOriginRedirect: true,
  stripHeadersOnRedirect: true,
  throwOnError: true,
  throwOnMaxRedirect: true,
  trailers: true,
  typeOfService: true,
  upgrade: true,
}

const NAMES = new OptionNames('request()', OPTIONS, OF_REQUESTS)

/** The options of a call of a method: without pollution, and with a warning about those that nobody knows. */
export function ownCall<T>(opts: T, called: PublicFunction): T {
  const own = withoutPollution(opts)
  checkNames(own, called)
  return own
}

export function checkNames(opts: unknown, called: PublicFunction): void {
  if (typeof opts === 'object' && opts !== null) NAMES.check(opts, called)
}
