// biome-ignore-all lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
/**
 * The class `Headers`. A client on a server needs names that browsers forbid (`cookie`, `host`,
 * `set-cookie`), so there is only one guard: the headers of a received response cannot be changed.
 */

import { isProxy } from 'node:util/types'
import { defineKind } from '../../base/object/kind.ts'
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

/** Headers over a list that the caller still shares. */
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
    checkCall(this, arguments.length, 2, 'Headers.append')
    const [field, text] = checkedField('Headers.append', name, value)
    this.#refuseWrites()
    this.#list.append(field, lowerCaseName(field), text)
  }

  delete(name: string): void {
    checkCall(this, arguments.length, 1, 'Headers.delete')
    const lower = checkedName('Headers.delete', name)
    this.#refuseWrites()
    this.#list.delete(lower)
  }

  get(name: string): string | null {
    checkCall(this, arguments.length, 1, 'Headers.get')
    return this.#list.get(checkedName('Headers.get', name))
  }

  has(name: string): boolean {
    checkCall(this, arguments.length, 1, 'Headers.has')
    return this.#list.has(checkedName('Headers.has', name))
  }

  set(name: string, value: string): void {
    checkCall(this, arguments.length, 2, 'Headers.set')
    const [field, text] = checkedField('Headers.set', name, value)
    this.#refuseWrites()
    this.#list.set(field, lowerCaseName(field), text)
  }

  getSetCookie(): string[] {
    checkReceiver(this)
    return this.#list.setCookies()
  }

  keys(): WebIterator<string> {
    checkReceiver(this)
    return new Iteration(this.#list, 'key') as unknown as WebIterator<string>
  }

  values(): WebIterator<string> {
    checkReceiver(this)
    return new Iteration(this.#list, 'value') as unknown as WebIterator<string>
  }

  entries(): WebIterator<[string, string]> {
    checkReceiver(this)
    return new Iteration(this.#list, 'entry') as unknown as WebIterator<[string, string]>
  }

  forEach(
    callback: (value: string, name: string, headers: Headers) => void,
    thisArgument: unknown = undefined,
  ): void {
    checkCall(this, arguments.length, 1, 'Headers.forEach')
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
defineKind(Headers, 'ventuno.Headers')
showInspected(Headers.prototype, 'Headers', (headers) => {
  const shown: Record<string, string | string[]> = {}
  listIn(headers)?.forEach((name, _lower, value) => {
    setOwn(shown, name, typeof value !== 'string' && value.length === 1 ? value[0]! : value)
  })
  return shown
})

/** A private method would throw, too, but with the message of the JavaScript engine. */
function checkReceiver(receiver: object): void {
  if (listIn(Object(receiver)) === null) throw illegalInvocation()
}

function checkCall(receiver: object, found: number, needed: number, where: string): void {
  checkReceiver(receiver)
  requireArguments(found, needed, where)
}

/** Appends all of `init`. Throws if something in it is not a valid field. */
export function fillHeaders(list: HeaderList, init: unknown): void {
  if (!isObject(init)) {
    throw new TypeError(
      'Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.',
    )
  }
  const iterator = (init as Partial<Iterable<unknown>>)[Symbol.iterator]
  if (iterator === undefined || iterator === null || iterator === pollutedIterator()) {
    fillFromRecord(list, init as Record<PropertyKey, unknown>)
    return
  }
  const known = iterator === entries ? listIn(init as object) : null
  if (known === null) fillFromPairs(list, init as object, iterator)
  else known.forEach((name, lower, value) => void appendAll(list, name, lower, value))
}

/** An iterator on a polluted Object.prototype would make every plain object look iterable. */
function pollutedIterator(): unknown {
  return (Object.prototype as Record<PropertyKey, unknown>)[Symbol.iterator]
}

function appendAll(list: HeaderList, name: string, lower: string, value: string | string[]): void {
  if (typeof value === 'string') list.append(name, lower, value)
  else for (const one of value) list.append(name, lower, one)
}

type Field = readonly [name: string, value: string]

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

function fillFromRecord(list: HeaderList, init: Record<PropertyKey, unknown>): void {
  // A proxy can observe the order of these reads. Other objects are read in a faster way.
  if (isProxy(init) || Object.getOwnPropertySymbols(init).length > 0) {
    for (const [name, value] of convertRecord(init, Reflect.ownKeys(init))) appendChecked(list, name, value)
    return
  }
  // Each member is read once, for a getter may answer differently the next time.
  const plain: Record<string, string> = {}
  const names = Object.keys(init)
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!
    // The name first: that of an odd field is converted before its value is read.
    const value = list.isEmpty && isPlainName(name) ? init[name] : NOT_READ
    if (typeof value === 'string' && isPlainValue(value)) {
      plain[name] = value
      continue
    }
    const rest = convertRecord(init, names.slice(i), value)
    for (const key of Object.keys(plain)) appendChecked(list, key, plain[key]!)
    for (const [key, text] of rest) appendChecked(list, key, text)
    return
  }
  if (names.length > 0) list.keep(plain)
}

const NOT_READ = Symbol('not read')

/**
 * The enumerable members with these names: each name and value is converted when it is read, and nothing is
 * checked before all are. `first` is the value of the first one if it has been read.
 */
function convertRecord(
  init: Record<PropertyKey, unknown>,
  names: readonly PropertyKey[],
  first: unknown = NOT_READ,
): readonly Field[] {
  const fields: Field[] = []
  for (const [index, name] of names.entries()) {
    const isRead = index === 0 && first !== NOT_READ
    if (!isRead && !Object.prototype.propertyIsEnumerable.call(init, name)) continue
    const field = toByteString(name, CONSTRUCTOR, `Key ${String(name)} in init`)
    const value = isRead ? first : init[name]
    const isString = typeof value === 'string'
    fields.push([field, toByteString(value, CONSTRUCTOR, isString ? '' : `init["${field}"]`)])
  }
  return fields
}

/** Whether only the same spelling equals a name. */
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

type IterationKind = 'key' | 'value' | 'entry'

/** Reads the current list at every step, so a field added during the iteration may still be visited. */
class Iteration {
  readonly #list: HeaderList
  readonly #kind: IterationKind
  #index = 0

  constructor(list: HeaderList, kind: IterationKind) {
    this.#list = list
    this.#kind = kind
  }

  next(): IteratorResult<string | HeaderPair, undefined> {
    if (!(#list in this)) {
      throw new TypeError("'next' called on an object that does not implement interface Headers Iterator.")
    }
    const pair = this.#list.sorted()[this.#index]
    if (pair === undefined) return { value: undefined, done: true }
    this.#index++
    const [name, value] = pair
    if (this.#kind === 'entry') return { value: [name, value], done: false }
    return { value: this.#kind === 'key' ? name : value, done: false }
  }
}

const IteratorPrototype: object = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))
Object.setPrototypeOf(Iteration.prototype, IteratorPrototype)
Reflect.deleteProperty(Iteration.prototype, 'constructor')
setTag(Iteration.prototype, 'Headers Iterator')
Object.defineProperty(Iteration.prototype, 'next', { enumerable: true })
