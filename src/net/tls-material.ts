/**
 * Owns the certificates, keys and authorities of one connector, where functions name them: they are asked for
 * each new connection. With other ones begins another cache of sessions: to resume a session would use what
 * it was made with, a certificate that may be revoked since, or an authority that is not trusted any more.
 */
import { asError } from '../base/error/as-error.ts'
import { ignoreRejection } from '../base/loop/stray-promise.ts'
import { isThenable } from '../base/loop/thenable.ts'
import { InvalidArgumentError } from '../errors.ts'
import { TlsSessionCache } from './tls-session-cache.ts'

/** One of these, or a list. */
type Material = unknown

/** The options that may be functions. */
const NAMES = ['secureContext', 'cert', 'key', 'ca'] as const

export class TlsMaterial {
  readonly #maxSessions: number
  /** Functions of the caller. */
  readonly #sources: readonly (readonly [name: string, ask: () => unknown])[]
  #last: readonly Material[] = []
  /** Of what was asked for last. */
  sessions: TlsSessionCache

  constructor(options: Record<string, unknown>, maxSessions: number) {
    this.#maxSessions = maxSessions
    this.#sources = NAMES.flatMap((name) => {
      const ask = Object.hasOwn(options, name) ? options[name] : null
      return typeof ask === 'function' ? [[name, ask as () => unknown] as const] : []
    })
    this.sessions = new TlsSessionCache(maxSessions)
  }

  /** For one connection: what replaces the functions in its options, or the error of its connect. */
  ask(): Record<string, unknown> | null | Error {
    if (this.#sources.length === 0) return null
    const values: Material[] = []
    for (const [name, source] of this.#sources) {
      try {
        const value = source()
        if (isThenable(value)) {
          ignoreRejection(value)
          return new InvalidArgumentError(`${name} must not return a promise`)
        }
        values.push(value)
      } catch (error) {
        return asError(error, `${name} failed`)
      }
    }
    if (!isSame(values, this.#last)) this.sessions = new TlsSessionCache(this.#maxSessions)
    this.#last = values.map(copyOf)
    return Object.fromEntries(values.map((value, i) => [this.#sources[i]![0], value]))
  }
}

/** A buffer may be filled with the next certificate. */
function copyOf(value: Material): Material {
  if (Array.isArray(value)) return value.map(copyOf)
  return ArrayBuffer.isView(value) ? Buffer.from(bytesOf(value)) : value
}

function isSame(one: Material, other: Material): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, i) => isSame(value, other[i]))
  }
  if (ArrayBuffer.isView(one) && ArrayBuffer.isView(other)) return bytesOf(one).equals(bytesOf(other))
  return one === other
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}
