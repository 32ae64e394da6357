/** The paths of cookies (RFC 6265bis §5.1.4). */

/** The directory of a request's path: the path of a cookie that names none. */
export function defaultPath(requestPath: string): string {
  const slash = requestPath.lastIndexOf('/')
  return slash <= 0 ? '/' : requestPath.slice(0, slash)
}

/** The same path, or one below it. `/foobar` is not below `/foo`. */
export function pathMatches(requestPath: string, cookiePath: string): boolean {
  if (!requestPath.startsWith(cookiePath)) return false
  if (requestPath.length === cookiePath.length || cookiePath.endsWith('/')) return true
  return requestPath.charCodeAt(cookiePath.length) === 0x2f
}
