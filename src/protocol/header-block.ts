/**
 * Fields received from a peer, in wire order. The three public views (object, flat strings, flat Buffers)
 * are made on demand: most callers look at one of them, many at none.
 */
import { HTAB, SP } from './ascii.ts'
import { lowerCaseName } from './header-names.ts'

/** Header fields as a plain object: lower-case names, one string, or an array when a name came repeatedly. */
export type HeaderObject = Record<string, string | string[] | undefined>

export class HeaderBlock {
  static readonly EMPTY: HeaderBlock = new HeaderBlock([])

  /** Name, value, name, value … from `#from` on; null for a head that was read as text. */
  #list: readonly string[] | null
  /** The head as text, whose field lines begin at `#from` and end with an empty line. */
  #text = ''
  #from: number
  /** Made when the head was read, for the first that asks. */
  #first: HeaderObject | null = null
  /** For a block that is the head of many messages: copying an object is cheaper than building it. */
  #model: HeaderObject | null = null
  #repeats = false

  /** `from`: the fields begin there. The list belongs to the block. */
  constructor(list: readonly string[] | null, from = 0) {
    this.#list = list
    this.#from = from
  }

  /**
   * Of a head whose field lines are in `text` from position `from` on, checked, and which are the fields of
   * `object`.
   */
  static ofText(text: string, from: number, object: HeaderObject): HeaderBlock {
    const block = new HeaderBlock(null, from)
    block.#text = text
    block.#first = object
    return block
  }

  /** name, value, name, value … as received (case of names kept), each a latin1 string. */
  get flat(): readonly string[] {
    if (this.#list === null) this.#list = fieldsOf(this.#text, this.#from)
    else if (this.#from > 0) this.#list = this.#list.slice(this.#from)
    this.#from = 0
    return this.#list
  }

  /** A fresh object each time: the caller may keep and change it. */
  toObject(): HeaderObject {
    if (this.#model !== null) return { ...this.#model }
    const first = this.#first
    if (first !== null) {
      this.#first = null
      return first
    }
    const object: HeaderObject = {}
    const list = this.#list ?? this.flat
    for (let i = this.#from; i < list.length; i += 2) {
      addField(object, lowerCaseName(list[i]!), list[i + 1]!)
    }
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

  toBuffers(): Buffer[] {
    return toBuffers(this.flat)
  }
}

/** Field lines that were checked when they were read. */
function fieldsOf(text: string, from: number): string[] {
  const flat: string[] = []
  for (let at = from; ; ) {
    const end = text.indexOf('\r\n', at)
    if (end === at) return flat
    const colon = text.indexOf(':', at)
    let first = colon + 1
    let last = end
    while (first < last && isSpace(text.charCodeAt(first))) first++
    while (first < last && isSpace(text.charCodeAt(last - 1))) last--
    flat.push(text.slice(at, colon), text.slice(first, last))
    at = end + 2
  }
}

/** RFC 9110 §5.6.3: what may surround a value. */
function isSpace(code: number): boolean {
  return code === SP || code === HTAB
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
