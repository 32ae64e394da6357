/**
 * Fields received from a peer, in wire order. The three public views (object, flat strings, flat Buffers)
 * are made on demand: most callers look at one of them, many at none.
 */
import { lowerCaseName } from './header-names.ts'

/** Header fields as a plain object: lower-case names, one string, or an array when a name came repeatedly. */
export type HeaderObject = Record<string, string | string[] | undefined>

export class HeaderBlock {
  static readonly EMPTY: HeaderBlock = new HeaderBlock([])

  /** name, value, name, value … as received (case of names kept), each a latin1 string. */
  readonly flat: readonly string[]
  /** For a block that is the head of many messages: copying an object is cheaper than building it. */
  #model: HeaderObject | null = null
  #repeats = false

  constructor(flat: readonly string[]) {
    this.flat = flat
  }

  /** A fresh object each time: the caller may keep and change it. */
  toObject(): HeaderObject {
    if (this.#model !== null) return { ...this.#model }
    const object: HeaderObject = {}
    this.copyInto(object)
    return object
  }

  /** Makes the object for copies: this block came again, and its object will be read again. */
  prepareForReuse(): void {
    if (this.#repeats) return
    this.#repeats = true
    const model = this.toObject()
    // An array would be the same one in every copy.
    if (Object.values(model).every((value) => typeof value === 'string')) this.#model = model
  }

  copyInto(object: HeaderObject): void {
    const flat = this.flat
    for (let i = 0; i < flat.length; i += 2) {
      addField(object, lowerCaseName(flat[i]!), flat[i + 1]!)
    }
  }

  toBuffers(): Buffer[] {
    return toBuffers(this.flat)
  }
}

/** Text as bytes, in memory that holds nothing else. */
export function toBuffers(parts: readonly string[]): Buffer[] {
  let size = 0
  for (const part of parts) size += part.length
  const memory = Buffer.allocUnsafeSlow(size)
  let at = 0
  return parts.map((part) => {
    const start = at
    at += memory.write(part, at, 'latin1')
    return memory.subarray(start, at)
  })
}

/**
 * Adds a field as an own data property. A peer may name a field `__proto__`, for which plain assignment
 * would change the prototype, or `constructor`, for which a plain read would find an inherited value.
 */
export function addField(object: HeaderObject, name: string, value: string): void {
  const present = object[name]
  if (present === undefined) {
    object[name] = value
  } else if (!Object.hasOwn(object, name)) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  } else if (typeof present === 'string') {
    object[name] = [present, value]
  } else {
    present.push(value)
  }
}
