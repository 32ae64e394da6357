/**
 * Per-request options that override those of the client, or are rarely given. Requests that use none of these share one
 * frozen object, which matters when thousands are queued. The order of the checks decides which of several mistakes is
 * reported.
 */
import { InvalidArgumentError } from '../errors.ts'
import { checkFlag, checkTimeout, checkTypeOfService, checkUpgrade, refuseRetired } from './check-options.ts'
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
  readonly typeOfService: number | undefined
  readonly servername: string | null
  /** The origin that an address has replaced. */
  readonly replacedOrigin: string | null
  readonly trailers: TrailersSource | null
}

const NONE: RequestOverrides = Object.freeze({
  upgrade: null,
  headersTimeout: null,
  bodyTimeout: null,
  requestBodyTimeout: null,
  reset: null,
  expectContinue: false,
  typeOfService: undefined,
  servername: null,
  replacedOrigin: null,
  trailers: null,
})

export function readOverrides(options: DispatchOptions): RequestOverrides {
  const upgrade = checkUpgrade(options.upgrade)
  const headersTimeout = checkTimeout('headersTimeout', options.headersTimeout)
  const bodyTimeout = checkTimeout('bodyTimeout', options.bodyTimeout)
  const requestBodyTimeout = checkTimeout('requestBodyTimeout', options.requestBodyTimeout)
  const reset = checkFlag('reset', options.reset)
  const expectContinue = checkFlag('expectContinue', options.expectContinue) ?? false
  refuseRetired(options)
  const typeOfService = checkTypeOfService(options.typeOfService)
  const servername = options.servername || null
  const replaced = replacedOrigin(options)
  const trailers = readTrailersOf(options, upgrade)
  const isNone =
    upgrade === null &&
    headersTimeout === null &&
    bodyTimeout === null &&
    requestBodyTimeout === null &&
    reset === null &&
    !expectContinue &&
    typeOfService === undefined &&
    servername === null &&
    replaced === null &&
    trailers === null
  return isNone
    ? NONE
    : {
        upgrade,
        headersTimeout,
        bodyTimeout,
        requestBodyTimeout,
        reset,
        expectContinue,
        typeOfService,
        servername,
        replacedOrigin: replaced,
        trailers,
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
