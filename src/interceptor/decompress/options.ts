/** The options of a decompress interceptor: their defaults and checks. */
import { type Check, integerFrom, isBoolean, LooseReader } from '../../dispatcher/option-reader.ts'
import { InvalidArgumentError } from '../../errors.ts'

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

export interface DecompressSettings {
  readonly skipStatusCodes: ReadonlySet<number>
  readonly skipErrorResponses: boolean
  /** Infinity for any number, as in `maxRatio`. */
  readonly maxSize: number
  readonly maxRatio: number
  readonly acceptEncoding: boolean
}

const isStatusList: Check = (value) => Array.isArray(value) && value.every(Number.isInteger)
const isRatio: Check = (value) => typeof value === 'number' && value >= 0

export function readDecompressOptions(options: DecompressOptions | null | undefined): DecompressSettings {
  if (options !== null && options !== undefined && typeof options !== 'object') {
    throw new InvalidArgumentError('options must be an object')
  }
  const from = new LooseReader<keyof DecompressOptions>(options ?? {})
  const statusCodes = 'skipStatusCodes must be an array of status codes'
  return {
    skipStatusCodes: new Set(from.read('skipStatusCodes', [204, 304], isStatusList, statusCodes)),
    skipErrorResponses: from.read(
      'skipErrorResponses',
      true,
      isBoolean,
      'skipErrorResponses must be a boolean',
    ),
    maxSize: limit(from.read('maxSize', 0, integerFrom(0), 'maxSize must be a non-negative integer')),
    maxRatio: limit(from.read('maxRatio', 1000, isRatio, 'maxRatio must be a non-negative number')),
    acceptEncoding: from.read('acceptEncoding', false, isBoolean, 'acceptEncoding must be a boolean'),
  }
}

function limit(value: number): number {
  return value === 0 ? Number.POSITIVE_INFINITY : value
}
