/** The options of a compress interceptor: their defaults and checks. */
import { type Encoding, isEncodable, levelOf } from '../../content-coding/encoders.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { type Filled, integerFrom, oneOf, option, readLoosely } from '../../options.ts'

/** Options of `interceptors.compress`. */
export interface CompressOptions {
  /** The content coding: `gzip`, `br`, or `zstd` where the runtime has it. Default: `gzip`. */
  coding?: Encoding | null | undefined
  /** The level of the coding: gzip 1 to 9, br 0 to 11, zstd 1 to 19. Default: 6, 4 and 3. */
  level?: number | null | undefined
  /** Bodies that are known to have fewer bytes are left as they are. Default: 1024. */
  minSize?: number | null | undefined
}

export type CompressSettings = Filled<CompressOptions>

const OPTIONS = {
  coding: option<Encoding>('gzip', oneOf('gzip', 'br', 'zstd'), 'coding must be gzip, br or zstd'),
  level: option<number | null>(null, integerFrom(0)),
  minSize: option(1024, integerFrom(0)),
}

export function readCompressOptions(options: CompressOptions | null | undefined): CompressSettings {
  const { coding, level: given, minSize } = readLoosely(OPTIONS, options)
  if (!isEncodable(coding)) throw new InvalidArgumentError(`this runtime cannot encode ${coding}`)
  const level = levelOf(coding, given)
  if (level === null) throw new InvalidArgumentError('invalid level')
  return { coding, level, minSize }
}
