/** The options of a decompress interceptor: their defaults and checks. */
import {
  type Check,
  type Filled,
  integerFrom,
  isBoolean,
  type OptionTable,
  option,
  orAny,
  setOption,
} from '../../options.ts'

/** Options of `interceptors.decompress`. */
export interface DecompressOptions {
  /** Statuses whose bodies are left as they are. Default: 204 and 304. */
  skipStatusCodes?: readonly number[] | null | undefined
  /** Whether bodies of statuses from 400 on are left as they are. Default: true. */
  skipErrorResponses?: boolean | null | undefined
  /** The most bytes that a coding may expand to; 0 for any number. Default: 0. */
  maxSize?: number | null | undefined
  /** How many times its encoded size a body of more than 1 MiB may have; 0 for any number. Default: 1000. */
  maxRatio?: number | null | undefined
  /** Whether to ask for the codings that can be decoded. Default: false. */
  acceptEncoding?: boolean | null | undefined
}

/** Infinity for any number. */
export interface DecompressSettings extends Filled<Omit<DecompressOptions, 'skipStatusCodes'>> {
  readonly skipStatusCodes: ReadonlySet<number>
}

const isRatio: Check = (value) => typeof value === 'number' && value >= 0

export const DECOMPRESS_OPTIONS: OptionTable<DecompressSettings> = {
  skipStatusCodes: setOption(
    [204, 304],
    Number.isInteger,
    'skipStatusCodes must be an array of status codes',
  ),
  skipErrorResponses: option(true, isBoolean, 'skipErrorResponses must be a boolean'),
  maxSize: option(Number.POSITIVE_INFINITY, integerFrom(0), 'maxSize must be a non-negative integer', orAny),
  maxRatio: option(1000, isRatio, 'maxRatio must be a non-negative number', orAny),
  acceptEncoding: option(false, isBoolean, 'acceptEncoding must be a boolean'),
}
