/**
 * The caller's `headers` → the checked list of a request. Some names never reach the list: they steer the
 * request instead.
 */
import { InvalidArgumentError, NotSupportedError } from '../errors.ts'
import { isFieldValue, isToken } from '../protocol/ascii.ts'
import { type FieldValue, HeaderList } from '../protocol/header-list.ts'
import { lowerCaseToken } from '../protocol/header-names.ts'
import { flatHeaders, isPairIterable } from './headers-input.ts'

/** Discarded whatever the protocol turns out to be: HTTP/2 sets its own, and HTTP/1.1 has others for them. */
const PSEUDO_FIELDS = new Set([':path', ':method', ':scheme', ':authority'])

export class RequestFields {
  readonly list: HeaderList = new HeaderList()
  host: string | null = null
  contentLength: number | null = null
  /** As the caller wrote it. */
  #lengthText: string | null = null
  contentType: string | null = null
  /** The caller wants the connection closed afterwards. */
  close = false

  addAll(headers: unknown): void {
    const flat = flatHeaders(headers)
    for (let i = 0; i < flat.length; i += 2) this.add(flat[i], flat[i + 1])
  }

  /** Whether these headers make the same fields. False for most that steered the request: they are not listed. */
  isFrom(names: readonly string[], headers: Readonly<Record<string, unknown>>): boolean {
    if (this.host !== null || this.close) return false
    const { flat } = this.list
    let lengthText: unknown = null
    let at = 0
    for (const name of names) {
      // fetch names it with every body.
      if (name === 'content-length') lengthText = headers[name]
      else if (flat[at] !== name || flat[at + 1] !== headers[name]) return false
      else at += 2
    }
    return at === flat.length && lengthText === this.#lengthText
  }

  add(name: unknown, value: unknown): void {
    if (value === undefined) return
    if (typeof name !== 'string') throw new InvalidArgumentError('invalid header key')
    const lower = lowerCaseToken(name)
    if (lower === '') {
      if (PSEUDO_FIELDS.has(name.toLowerCase())) return
      throw new InvalidArgumentError('invalid header key')
    }
    const text = coerce(name, value)
    // Few names have these lengths, so most fields need no comparison.
    switch (lower.length) {
      case 4:
      case 6:
      case 7:
      case 10:
      case 12:
      case 14:
      case 17:
        if (this.#steer(lower, text)) return
    }
    if (!this.list.append(name, text)) throw new InvalidArgumentError(`invalid ${name} header`)
  }

  /** Takes note of a field that steers the request. Returns whether it is not to be sent as it is. */
  #steer(lower: string, text: FieldValue): boolean {
    switch (lower) {
      case 'host':
        this.#setHost(text)
        return true
      case 'content-length':
        this.#setContentLength(text)
        return true
      case 'connection':
        this.#setConnection(text)
        return true
      case 'transfer-encoding':
      case 'keep-alive':
      case 'upgrade':
        throw new InvalidArgumentError(`invalid ${lower} header`)
      case 'expect':
        throw new NotSupportedError('expect header not supported')
      case 'content-type':
        this.contentType ??= typeof text === 'string' ? text : (text[0] ?? '')
        return false
      default:
        return false
    }
  }

  #setHost(value: FieldValue): void {
    if (this.host !== null) throw new InvalidArgumentError('duplicate host header')
    if (typeof value !== 'string' || !isFieldValue(value)) {
      throw new InvalidArgumentError('invalid host header')
    }
    this.host = value
  }

  #setContentLength(value: FieldValue): void {
    if (this.contentLength !== null) throw new InvalidArgumentError('duplicate content-length header')
    const length = typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : Number.NaN
    if (!Number.isSafeInteger(length)) throw new InvalidArgumentError('invalid content-length header')
    this.contentLength = length
    this.#lengthText = value as string
  }

  #setConnection(value: FieldValue): void {
    if (typeof value !== 'string') throw new InvalidArgumentError('invalid connection header')
    for (const item of value.split(',')) {
      const option = item.trim()
      if (!isToken(option)) throw new InvalidArgumentError('invalid connection header')
      if (option.toLowerCase() === 'close') this.close = true
    }
  }
}

/** For all requests without headers. */
const NONE = new RequestFields()

/**
 * The fields of the last request: programs send the same again and again, and comparing costs less than
 * checking.
 */
export class FieldsMemory {
  #last = NONE

  /** The checked fields, not to be changed: other requests may have the same. */
  read(headers: unknown): RequestFields {
    if (headers === undefined || headers === null) return NONE
    if (!isPlainObject(headers)) {
      const fields = new RequestFields()
      fields.addAll(headers)
      return fields
    }
    const names = Object.keys(headers)
    if (this.#last.isFrom(names, headers)) {
      this.#last.list.isRepeated = true
      return this.#last
    }
    const fields = new RequestFields()
    for (const name of names) fields.add(name, headers[name])
    this.#last = fields
    return fields
  }
}

function isPlainObject(headers: unknown): headers is Record<string, unknown> {
  return (
    typeof headers === 'object' && headers !== null && !Array.isArray(headers) && !isPairIterable(headers)
  )
}

/** Coerced once: what is checked is the very string that is sent. */
function coerce(name: string, value: unknown): FieldValue {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (Array.isArray(value)) return value.map((item) => coerceItem(name, item))
  return coerceItem(name, value)
}

function coerceItem(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'object') throw new InvalidArgumentError(`invalid ${name} header`)
  return `${value as number}`
}
