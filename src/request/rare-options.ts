/**
 * What few requests ask for, checked in the contract's order (dispatcher.md 4). All that ask for nothing of it have
 * the same object: thousands of them may wait.
 */
import { InvalidArgumentError } from '../errors.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import {
  checkFlag,
  checkTimeout,
  checkTypeOfService,
  checkUpgrade,
  refuseRetired,
} from './request-options.ts'
import { readTrailers, type TrailersSource } from './request-trailers.ts'

export interface RareOptions {
  readonly upgrade: string | null
  readonly headersTimeout: number | null
  readonly bodyTimeout: number | null
  readonly reset: boolean | null
  readonly expectContinue: boolean
  readonly typeOfService: number | undefined
  readonly servername: string | null
  readonly trailers: TrailersSource | null
}

const NONE: RareOptions = {
  upgrade: null,
  headersTimeout: null,
  bodyTimeout: null,
  reset: null,
  expectContinue: false,
  typeOfService: undefined,
  servername: null,
  trailers: null,
}

export function readRareOptions(options: DispatchOptions): RareOptions {
  const upgrade = checkUpgrade(options.upgrade)
  const headersTimeout = checkTimeout('headersTimeout', options.headersTimeout)
  const bodyTimeout = checkTimeout('bodyTimeout', options.bodyTimeout)
  const reset = checkFlag('reset', options.reset)
  const expectContinue = checkFlag('expectContinue', options.expectContinue) ?? false
  refuseRetired(options)
  const typeOfService = checkTypeOfService(options.typeOfService)
  const servername = options.servername || null
  const trailers = readTrailersOf(options, upgrade)
  const isNone =
    upgrade === null &&
    headersTimeout === null &&
    bodyTimeout === null &&
    reset === null &&
    !expectContinue &&
    typeOfService === undefined &&
    servername === null &&
    trailers === null
  return isNone
    ? NONE
    : { upgrade, headersTimeout, bodyTimeout, reset, expectContinue, typeOfService, servername, trailers }
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
