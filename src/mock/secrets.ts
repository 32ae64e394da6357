/** The names of fields that hold secrets, which neither messages nor files show. */
const SECRET = /^(?:(?:proxy-)?authorization|cookie|x-api-key|.*-token|.*-secret)$/i

export function isSecret(name: string): boolean {
  return SECRET.test(name)
}

/** The length in place of a secret. */
export function shownField(name: string, value: string): string {
  return isSecret(name) ? `<${value.length} characters>` : value
}

/** A path with the lengths of the values in its query: whatever they are called, one of them may be a token. */
export function shownQuery(path: string): string {
  const [before, query] = path.split(/\?(.*)/s) as [string, string?]
  if (query === undefined) return path
  const shown = query.replace(/=([^&#]*)/g, (_, value: string) => `=<${value.length} characters>`)
  return `${before}?${shown.replace(/#.*/s, '')}`
}
