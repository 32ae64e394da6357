/** Where in the caller's program an interceptor was defined, for the error of an unmatched request. */

/** Stack frames to keep: enough for a test helper and its caller. */
const FRAMES = 4

/** The stack is formatted on first access: most interceptors never need it. */
export interface DefinitionSite {
  readonly stack?: string
}

/** Frames up to and including the function `above` are left out. */
export function definitionSite(above: (...args: never[]) => unknown): DefinitionSite {
  const site: DefinitionSite = {}
  const { stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = FRAMES
    Error.captureStackTrace(site, above)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
  return site
}

/** `test/pay.test.js:14:6`, relative to the working directory; null if the stack has no such place. */
export function placeOf(site: DefinitionSite): string | null {
  const place = /((?:file:\/\/|[A-Za-z]:)?[^()\s]*:\d+:\d+)\)?$/m.exec(String(site.stack))?.[1]
  if (place === undefined) return null
  const path = place.startsWith('file://') ? decodeURI(place.slice('file://'.length)) : place
  const folder = `${process.cwd()}/`
  return path.startsWith(folder) ? path.slice(folder.length) : path
}
