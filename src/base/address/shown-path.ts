/** The part of a path or a URL that errors show: neither the query nor a user's name and password. */
export function shownPath(path: string): string {
  const [place] = path.split(/[?#]/, 1) as [string]
  return place.replace(/\/\/[^/]*@/, '//').replace(/^[^/]*@/, '')
}
