/**
 * The headers of a request in the shapes in which a caller may give them: an object, a flat list, an iterable
 * of pairs. What the names and values are is not looked at here: `RequestFields` checks them.
 */
import { InvalidArgumentError } from '../errors.ts'

/** name, value, name, value … */
export type FlatHeaders = readonly unknown[]

const NONE: FlatHeaders = Object.freeze([])

/**
 * A pair iterator counts only when the object or its class has one: one on a polluted Object.prototype
 * would turn every plain object into something else.
 */
export function isPairIterable(headers: object): headers is Iterable<unknown> {
  const iterator = (headers as Record<PropertyKey, unknown>)[Symbol.iterator]
  const inherited = (Object.prototype as Record<PropertyKey, unknown>)[Symbol.iterator]
  return typeof iterator === 'function' && iterator !== inherited
}

/** A list that is flat already is returned itself. Throws for anything that has none of the shapes. */
export function flatHeaders(headers: unknown): FlatHeaders {
  if (headers === null || headers === undefined) return NONE
  if (typeof headers !== 'object') throw new InvalidArgumentError('headers must be an object or an array')
  if (Array.isArray(headers)) {
    if (headers.length > 0 && headers.every(isPair)) return headers.flat(1)
    if (headers.length % 2 !== 0) throw new InvalidArgumentError('headers array must be even')
    return headers
  }
  const flat: unknown[] = []
  if (isPairIterable(headers)) {
    for (const pair of headers) {
      if (!isPair(pair)) throw new InvalidArgumentError('headers must be in key-value pair format')
      flat.push(pair[0], pair[1])
    }
  } else {
    for (const name of Object.keys(headers)) flat.push(name, (headers as Record<string, unknown>)[name])
  }
  return flat
}

/**
 * For code that looks at headers before a dispatcher does: never throws on account of a shape, and gives
 * whatever is not a pair a name that every dispatcher rejects. Other dispatchers take a list of pairs.
 */
export function* headerPairs(headers: unknown): Generator<[name: unknown, value: unknown]> {
  if (typeof headers !== 'object' || headers === null) return
  if (Array.isArray(headers) && !Array.isArray(headers[0])) {
    for (let i = 0; i < headers.length; i += 2) yield [headers[i], headers[i + 1]]
  } else if (isPairIterable(headers)) {
    for (const pair of headers) yield isPair(pair) ? pair : [undefined, pair]
  } else {
    for (const name of Object.keys(headers)) yield [name, (headers as Record<string, unknown>)[name]]
  }
}

/**
 * The names alone, by the same rules; those of an object without a generator, because most headers are
 * objects.
 */
export function headerNames(headers: object): readonly unknown[] {
  if (!Array.isArray(headers) && !isPairIterable(headers)) return Object.keys(headers)
  return Array.from(headerPairs(headers), ([name]) => name)
}

function isPair(pair: unknown): pair is [name: unknown, value: unknown] {
  return Array.isArray(pair) && pair.length === 2
}
