/** The header fields of a client or a call, by lower-case name. */
import { InvalidArgumentError } from '../errors.ts'
import { acceptedCodings } from '../interceptor/decompress/interceptor.ts'
import { isHarmlessField } from '../interceptor/redirect/next-request.ts'
import { isFieldValue, isToken } from '../protocol/ascii.ts'

/** Undefined removes the field. */
export type Fields = Record<string, string | readonly string[] | undefined>

/** The fields of the parent with those that are given. Has no prototype: a name may be anything. */
export function withFields(parent: Fields, given: unknown): Fields {
  const fields: Fields = Object.assign(Object.create(null), parent)
  for (const [name, value] of pairsOf(given)) {
    if (typeof name !== 'string' || !isToken(name)) {
      throw new InvalidArgumentError(`headers must have valid names: ${JSON.stringify(name)} is none`)
    }
    const lower = name.toLowerCase()
    if (value === undefined) delete fields[lower]
    else fields[lower] = readValue(value, name)
  }
  return fields
}

function pairsOf(given: unknown): Iterable<readonly [unknown, unknown]> {
  if (typeof given !== 'object' || given === null) throw notHeaders()
  if (!(Symbol.iterator in given)) return Object.entries(given)
  const pairs = [...(given as Iterable<unknown>)]
  if (!pairs.every((pair) => Array.isArray(pair) && pair.length === 2)) throw notHeaders()
  return pairs as [unknown, unknown][]
}

function notHeaders(): Error {
  return new InvalidArgumentError('headers must be an object, or an iterable of pairs')
}

/** The message leaves the value out, which may be a secret. */
function readValue(value: unknown, name: string): string | readonly string[] {
  const text = typeof value === 'number' ? String(value) : value
  const isRight = Array.isArray(text) ? text.every(isText) : isText(text)
  if (isRight) return text as string | readonly string[]
  throw new InvalidArgumentError(
    `headers.${name} must be a string, a number or a list of strings that a field can have; undefined removes it`,
  )
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && isFieldValue(value)
}

/** What another origin may get: a service has its secrets in fields of any name. */
export function harmlessFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isHarmlessField(name)))
}

/** A range is of the coded form, which the caller would not expect. */
export function acceptingCodings(fields: Fields): Fields {
  if (fields['accept-encoding'] !== undefined || fields['range'] !== undefined) return fields
  return { ...fields, 'accept-encoding': acceptedCodings() }
}
