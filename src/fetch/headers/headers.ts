// biome-ignore-all lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
/**
 * The class `Headers`. A client on a server needs names that browsers forbid (`cookie`, `host`,
 * `set-cookie`), so there is only one guard: the headers of a received response cannot be changed.
 */

import { isProxy } from 'node:util/types'
import { setOwn } from '../../base/object/own-record.ts'
import { isFieldValue } from '../../protocol/ascii.ts'
import { isFieldName, lowerCaseName, lowerCaseToken } from '../../protocol/header-names.ts'
import { illegalInvocation, isObject, requireArguments, toByteString } from '../../web/idl.ts'
import { defineInterface, defineIterator, setTag, showInspected } from '../../web/interface.ts'
import { markUncloneable } from '../../web/uncloneable.ts'
import type * as declared from '../declared-classes.ts'
import type { WebIterator } from '../web-iterator.ts'
import { HeaderList, type HeaderPair } from './header-list.ts'

export type HeadersGuard = 'none' | 'immutable'

/** Passed to the constructor only from within this package. */
const INTERNAL = Symbol('internal')

/** Where `init` is converted, for error messages. */
const CONSTRUCTOR = 'Headers constructor'

const FORBIDDEN_IN_VALUE = /[\0\r\n]/

/** The list of a `Headers` object; null for any other object. */
let listIn: (value: object) => HeaderList | null

/** Headers that share the given list. */
export let makeHeaders: (list: HeaderList, guard: HeadersGuard) => Headers

export type Headers = declared.Headers

/** The fields of a request or a response. */
export const Headers: typeof declared.Headers = class Headers {
  #list: HeaderList
  #guard: HeadersGuard = 'none'

  static {
    listIn = (value) => (#list in value ? value.#list : null)
    makeHeaders = (list, guard) => {
      const headers = new Headers(INTERNAL as never)
      headers.#list = list
      headers.#guard = guard
      return headers
    }
  }

  constructor(init: declared.HeadersSource | undefined = undefined) {
    markUncloneable(this)
    this.#list = new HeaderList()
    if (init !== undefined && (init as unknown) !== INTERNAL) fillHeaders(this.#list, init)
  }

  append(name: string, value: string): void {
    const list = listFor(this, arguments.length, 2, 'Headers.append')
    const [field, text] = checkedField('Headers.append', name, value)
    this.#refuseWrites()
    list.append(field, lowerCaseName(field), text)
  }

  delete(name: string): void {
    const list = listFor(this, arguments.length, 1, 'Headers.delete')
    const lower = checkedName('Headers.delete', name)
    this.#refuseWrites()
    list.delete(lower)
  }

  get(name: string): string | null {
    return listFor(this, arguments.length, 1, 'Headers.get').get(checkedName('Headers.get', name))
  }

  has(name: string): boolean {
    return listFor(this, arguments.length, 1, 'Headers.has').has(checkedName('Headers.has', name))
  }

  set(name: string, value: string): void {
    const list = listFor(this, arguments.length, 2, 'Headers.set')
    const [field, text] = checkedField('Headers.set', name, value)
    this.#refuseWrites()
    list.set(field, lowerCaseName(field), text)
  }

  getSetCookie(): string[] {
    return listFor(this, 0, 0, '').setCookies()
  }

  keys(): WebIterator<string> {
    return iterate(this, ([name]) => name)
  }

  values(): WebIterator<string> {
    return iterate(this, ([, value]) => value)
  }

  entries(): WebIterator<[string, string]> {
    return iterate(this, ([name, value]) => [name, value])
  }

  forEach(
    callback: (value: string, name: string, headers: Headers) => void,
    thisArgument: unknown = undefined,
  ): void {
    listFor(this, arguments.length, 1, 'Headers.forEach')
    if (typeof callback !== 'function') {
      throw new TypeError("Failed to execute 'forEach' on 'Headers': parameter 1 is not of type 'Function'.")
    }
    for (const [name, value] of this.entries()) callback.call(thisArgument, value, name, this)
  }

  declare [Symbol.iterator]: () => WebIterator<[string, string]>

  #refuseWrites(): void {
    if (this.#guard === 'immutable') throw new TypeError('immutable')
  }
}

const { entries } = Headers.prototype
defineIterator(Headers.prototype, entries)
defineInterface(Headers, 'Headers')
showInspected(Headers.prototype, 'Headers', (headers) => {
  const shown: Record<string, string | string[]> = {}
  listIn(headers)?.forEach((name, _lower, value) => {
    setOwn(shown, name, typeof value !== 'string' && value.length === 1 ? value[0]! : value)
  })
  return shown
})

/** A private method would throw, too, but with the message of the JavaScript engine. */
function listFor(receiver: object, found: number, needed: number, where: string): HeaderList {
  const list = listIn(Object(receiver))
  if (list === null) throw illegalInvocation()
  requireArguments(found, needed, where)
  return list
}

/** Appends all of `init`. Throws if something in it is not a valid field. */
export function fillHeaders(list: HeaderList, init: unknown): void {
  if (!isObject(init)) {
    throw new TypeError(
      'Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.',
    )
  }
  const iterator = (init as Partial<Iterable<unknown>>)[Symbol.iterator]
  // An iterator on a polluted Object.prototype would make every plain object look iterable.
  const polluted = (Object.prototype as Partial<Iterable<unknown>>)[Symbol.iterator]
  if (iterator === undefined || iterator === null || iterator === polluted) {
    fillFromRecord(list, init as Record<PropertyKey, unknown>)
    return
  }
  const known = iterator === entries ? listIn(init as object) : null
  if (known === null) fillFromPairs(list, init as object, iterator)
  else known.forEach((name, lower, value) => void appendAll(list, name, lower, value))
}

function appendAll(list: HeaderList, name: string, lower: string, value: string | string[]): void {
  if (typeof value === 'string') list.append(name, lower, value)
  else for (const one of value) list.append(name, lower, one)
}

/**
 * Everything is converted before anything is checked, as Web IDL says. `iterator` is read once by the caller.
 */
function fillFromPairs(list: HeaderList, init: object, iterator: unknown): void {
  if (typeof iterator !== 'function') throw new TypeError(`${CONSTRUCTOR}: init is not iterable.`)
  const pairs: string[][] = []
  for (const item of iterated(init, iterator)) {
    const index = pairs.length
    const inner = isObject(item) ? (item as Partial<Iterable<unknown>>)[Symbol.iterator] : undefined
    if (typeof inner !== 'function') {
      const shown = typeof item === 'string' ? JSON.stringify(item) : String(item)
      throw new TypeError(`${CONSTRUCTOR}: init[${index}] (${shown}) is not iterable.`)
    }
    const pair: string[] = []
    for (const part of iterated(item as object, inner)) {
      const isString = typeof part === 'string'
      pair.push(toByteString(part, CONSTRUCTOR, isString ? '' : `init[${index}][${pair.length}]`))
    }
    pairs.push(pair)
  }
  for (const pair of pairs) {
    if (pair.length !== 2) {
      throw new TypeError(`${CONSTRUCTOR}: expected name/value pair to be length 2, found ${pair.length}.`)
    }
    appendChecked(list, pair[0]!, pair[1]!)
  }
}

/** The items of a value whose iterator method is known. */
function iterated(value: object, method: unknown): Iterable<unknown> {
  return { [Symbol.iterator]: () => Reflect.apply(method as () => Iterator<unknown>, value, []) }
}

/** As long as all fields are plain, the list keeps them in one object. */
function fillFromRecord(list: HeaderList, init: Record<PropertyKey, unknown>): void {
  // A proxy can observe the order of the reads. Other objects are read in a faster way.
  const isSimple = !isProxy(init) && Object.getOwnPropertySymbols(init).length === 0
  const names = isSimple ? Object.keys(init) : Reflect.ownKeys(init)
  const plain: Record<string, string> = {}
  /** The fields from the first one that is not plain. Nothing is checked before all are converted. */
  const others: [name: string, value: string][] = []
  let isPlain = isSimple && list.isEmpty
  for (const name of names) {
    isPlain &&= isPlainName(name as string)
    if (!isPlain && !Object.prototype.propertyIsEnumerable.call(init, name)) continue
    // The name of a field is converted before its value is read, and a value is read once.
    const field = isPlain ? (name as string) : toByteString(name, CONSTRUCTOR, `Key ${String(name)} in init`)
    const value = init[name]
    const isString = typeof value === 'string'
    isPlain &&= isString && isPlainValue(value)
    if (isPlain) plain[field] = value as string
    else others.push([field, toByteString(value, CONSTRUCTOR, isString ? '' : `init["${field}"]`)])
  }
  if (isPlain) {
    if (names.length > 0) list.keep(plain)
    return
  }
  for (const name of Object.keys(plain)) appendChecked(list, name, plain[name]!)
  for (const [name, value] of others) appendChecked(list, name, value)
}

/** Whether the name is a valid one in lower case. */
function isPlainName(name: string): boolean {
  return lowerCaseToken(name) === name && name !== '__proto__'
}

function appendChecked(list: HeaderList, name: string, value: string): void {
  // Nearly all fields can be sent unchanged.
  const isPlain = isFieldName(name) && isPlainValue(value)
  const [field, text] = isPlain ? [name, value] : checkedField('Headers.append', name, value)
  list.append(field, lowerCaseName(field), text)
}

function isPlainValue(value: string): boolean {
  return isFieldValue(value) && normalized(value) === value
}

function checkedField(where: string, name: unknown, value: unknown): [name: string, value: string] {
  const field = toByteString(name, where, 'name')
  const text = normalized(toByteString(value, where, 'value'))
  if (!isFieldName(field))
    throw new TypeError(`${where}: ${JSON.stringify(field)} is an invalid header name.`)
  if (FORBIDDEN_IN_VALUE.test(text)) {
    throw new TypeError(`${where}: "${text}" is an invalid header value.`)
  }
  return [field, text]
}

function checkedName(where: string, name: unknown): string {
  const field = toByteString(name, where, 'name')
  if (!isFieldName(field)) throw new TypeError(`${where}: "${field}" is an invalid header name.`)
  return lowerCaseName(field)
}

/** Without leading and trailing white space. */
function normalized(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isHttpSpace(value.charCodeAt(start))) start++
  while (end > start && isHttpSpace(value.charCodeAt(end - 1))) end--
  return start === 0 && end === value.length ? value : value.slice(start, end)
}

function isHttpSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}

/** Reads the current list at every step, so a field added during the iteration may still be visited. */
class Iteration {
  readonly #list: HeaderList
  readonly #pick: (pair: HeaderPair) => unknown
  #index = 0

  constructor(list: HeaderList, pick: (pair: HeaderPair) => unknown) {
    this.#list = list
    this.#pick = pick
  }

  next(): IteratorResult<unknown, undefined> {
    if (!(#list in this)) {
      throw new TypeError("'next' called on an object that does not implement interface Headers Iterator.")
    }
    const pair = this.#list.sorted()[this.#index]
    if (pair === undefined) return { value: undefined, done: true }
    this.#index++
    return { value: this.#pick(pair), done: false }
  }
}

function iterate<T>(headers: object, pick: (pair: HeaderPair) => T): WebIterator<T> {
  return new Iteration(listFor(headers, 0, 0, ''), pick) as unknown as WebIterator<T>
}

const IteratorPrototype: object = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))
Object.setPrototypeOf(Iteration.prototype, IteratorPrototype)
Reflect.deleteProperty(Iteration.prototype, 'constructor')
setTag(Iteration.prototype, 'Headers Iterator')
Object.defineProperty(Iteration.prototype, 'next', { enumerable: true })
