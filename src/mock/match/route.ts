/** `POST https://api.test/users/:id`: a method, an origin and a path with named parts, in one text. */
import { InvalidArgumentError } from '../../errors.ts'
import type { PathPattern } from './interception.ts'
import { interceptedPath, sortedPath } from './request-path.ts'

/** A parsed route. */
export interface Route {
  readonly method: string
  readonly origin: string
  readonly path: string
  /** Null for a path without named parts. */
  readonly named: PathPattern | null
}

/** Without a method: GET. */
export function readRoute(text: unknown): Route {
  const match =
    typeof text === 'string' ? /^(?:([^\s/:]+)\s+)?(https?:\/\/[^/?#\s]+)(\S*)$/i.exec(text) : null
  if (match === null) {
    throw new InvalidArgumentError("a route is a method and a URL: 'POST https://api.test/users/:id'")
  }
  const [, method = 'GET', origin, path = ''] = match as unknown as [string, string?, string?, string?]
  const place = path.startsWith('/') ? path : `/${path}`
  return { method: method.toUpperCase(), origin: origin!, path: place, named: namedParts(place) }
}

function namedParts(path: string): PathPattern | null {
  const [pathname = '', query] = path.split('?', 2)
  if (!/\/:[A-Za-z_]\w*/.test(pathname)) return null
  const names: string[] = []
  const place = literal(interceptedPath(pathname, null))
  const source = place.replace(/\/:([A-Za-z_]\w*)/g, (_, name: string) => {
    names.push(name)
    return '/([^/?]+)'
  })
  const wanted = query === undefined ? '' : sortedPath(`?${query}`)
  const pattern = new RegExp(`^${source}${literal(wanted)}$`)
  return (requested) => {
    const found = pattern.exec(requested)
    return found && Object.fromEntries(names.map((name, i) => [name, decoded(found[i + 1]!)]))
  }
}

/** A pattern for the text itself. */
function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
