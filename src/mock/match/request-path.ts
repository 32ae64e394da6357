/** Normalises paths for comparison: sorts query parameters by name and can drop trailing slashes. */
import { withQuery } from '../../request/check-options.ts'

/** The order of the parameters and the spelling of spaces do not matter; repeated names keep their order. */
export function sortedPath(path: string, nonStandard = false): string {
  const mark = path.indexOf('?')
  if (mark === -1 || path.includes('?', mark + 1)) return path
  let query = new URLSearchParams(path.slice(mark + 1))
  if (nonStandard) query = standardQuery(query)
  query.sort()
  return `${path.slice(0, mark)}?${query}`
}

function standardQuery(given: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of given) {
    const plain = name.replace(/\[\]$/, '')
    const values = /^(["']).*\1$/.test(value) ? [value] : value.split(',')
    for (const one of values) query.append(plain, one)
  }
  return query
}

/** Without the slashes at the end of the pathname; at least one slash is left. */
export function withoutTrailingSlash(path: string): string {
  const mark = path.indexOf('?')
  const pathname = mark === -1 ? path : path.slice(0, mark)
  let end = pathname.length
  while (end > 0 && pathname.charCodeAt(end - 1) === 0x2f) end--
  return `${pathname.slice(0, end) || '/'}${mark === -1 ? '' : path.slice(mark)}`
}

/** The path of an interceptor with `query` appended, normalised by the URL parser. */
export function interceptedPath(path: string, query: unknown): string {
  const { pathname, search } = new URL(withQuery(path, query), 'http://localhost')
  return pathname + search
}
