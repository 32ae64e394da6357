/** The parameters of a query or a form: read, merged by name, and written. */
import { InvalidArgumentError } from '../errors.ts'

/** Encoded pairs by name; a name without any removes what the other side has. */
export type Query = ReadonlyMap<string, readonly string[]>

export function readQuery(given: unknown, what: string): Query {
  const pairs = new Map<string, string[]>()
  if (given instanceof URLSearchParams) {
    for (const [name, value] of given) add(pairs, name).push(pairOf(name, value))
    return pairs
  }
  if (typeof given !== 'object' || given === null || Symbol.iterator in given) {
    throw new InvalidArgumentError(`${what} must be an object or URLSearchParams`)
  }
  for (const [name, value] of Object.entries(given)) {
    const values: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value]
    const isRight = values.every((one) => /^(?:string|boolean)$/.test(typeof one) || Number.isFinite(one))
    if (!isRight) {
      throw new InvalidArgumentError(
        `${what}.${name} must be a string, a finite number, a boolean or a list of them; undefined leaves it out`,
      )
    }
    add(pairs, name).push(...values.map((one) => pairOf(name, String(one))))
  }
  return pairs
}

function add(pairs: Map<string, string[]>, name: string): string[] {
  const present = pairs.get(name) ?? []
  pairs.set(name, present)
  return present
}

function pairOf(name: string, value: string): string {
  return `${encoded(name)}=${encoded(value)}`
}

/** Lone surrogates would throw. */
function encoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

export function merged(parent: Query | null, own: Query): Query {
  return new Map([...(parent ?? []), ...own])
}

/** The query of a URL with parameters added: those that it has win over the client's, not over the call's. */
export function queryText(search: string, query: Query | null, own: Query | null): string {
  if (query === null && own === null) return search
  const present = new Set(new URLSearchParams(search).keys())
  const defaults = [...(query ?? [])].filter(([name]) => !present.has(name))
  const pairs = [...merged(new Map(defaults), own ?? new Map()).values()].flat()
  const text = [search.slice(1), ...pairs].filter((part) => part !== '').join('&')
  return text === '' ? '' : `?${text}`
}

export function formText(form: Query): string {
  return [...form.values()].flat().join('&').replaceAll('%20', '+')
}
