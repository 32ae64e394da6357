/**
 * Per-request options that override those of the client, or are rarely given. Requests that use none of these
 * share one frozen object, which matters when thousands are queued. The order of the checks decides which of
 * several mistakes is reported.
 */
import { InvalidArgumentError } from '../errors.ts'
import { finiteFrom, isBoolean, option, readOption } from '../options.ts'
import { checkUpgrade, refuseRetired } from './check-options.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import { replacedOrigin } from './logical-origin.ts'
import { readTrailers, type TrailersSource } from './request-trailers.ts'

export interface RequestOverrides {
  readonly upgrade: string | null
  readonly headersTimeout: number | null
  readonly bodyTimeout: number | null
  readonly requestBodyTimeout: number | null
  readonly reset: boolean | null
  readonly expectContinue: boolean
  readonly expectContinueTimeout: number | null
  readonly typeOfService: number | undefined
  readonly servername: string | null
  /** The origin that an address has replaced. */
  readonly replacedOrigin: string | null
  readonly trailers: TrailersSource | null
}

export function readOverrides(options: DispatchOptions): RequestOverrides {
  return hasNone(options) ? NONE : readAll(options)
}

function hasNone(options: DispatchOptions): boolean {
  const { throwOnError, maxRedirections } = options as { throwOnError?: unknown; maxRedirections?: unknown }
  return (
    !options.upgrade &&
    (options.headersTimeout ?? null) === null &&
    (options.bodyTimeout ?? null) === null &&
    (options.requestBodyTimeout ?? null) === null &&
    (options.reset ?? null) === null &&
    (options.expectContinue ?? null) === null &&
    (throwOnError ?? null) === null &&
    (maxRedirections ?? null) === null &&
    (options.typeOfService ?? null) === null &&
    !options.servername &&
    (options.trailers ?? null) === null &&
    replacedOrigin(options) === null
  )
}

const TIMEOUT = option<number | null>(null, finiteFrom(0))
const FLAG = option<boolean | null>(null, isBoolean)
const TYPE_OF_SERVICE = option<number | undefined>(
  undefined,
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255,
  'typeOfService must be an integer between 0 and 255',
)

const NONE: RequestOverrides = Object.freeze(readAll({ path: '/', method: 'GET' }))

function readAll(options: DispatchOptions): RequestOverrides {
  const first = {
    upgrade: checkUpgrade(options.upgrade),
    headersTimeout: readOption('headersTimeout', options.headersTimeout, TIMEOUT),
    bodyTimeout: readOption('bodyTimeout', options.bodyTimeout, TIMEOUT),
    requestBodyTimeout: readOption('requestBodyTimeout', options.requestBodyTimeout, TIMEOUT),
    reset: readOption('reset', options.reset, FLAG),
    expectContinue: readOption('expectContinue', options.expectContinue, FLAG) ?? false,
    expectContinueTimeout: readOption('expectContinueTimeout', options.expectContinueTimeout, TIMEOUT),
  }
  refuseRetired(options)
  return {
    ...first,
    typeOfService: readOption('typeOfService', options.typeOfService, TYPE_OF_SERVICE),
    servername: options.servername || null,
    replacedOrigin: replacedOrigin(options),
    trailers: readTrailersOf(options, first.upgrade),
  }
}

function readTrailersOf(
  { trailers, method }: DispatchOptions,
  upgrade: string | null,
): TrailersSource | null {
  if (trailers === null || trailers === undefined) return null
  if (upgrade !== null || method === 'CONNECT') {
    throw new InvalidArgumentError('CONNECT and upgrades have no trailers')
  }
  return readTrailers(trailers)
}
