/** The names of fields that hold secrets, which neither messages nor files show. */
const SECRET = /^(?:(?:proxy-)?authorization|cookie|x-api-key|.*-token|.*-secret)$/i

export function isSecret(name: string): boolean {
  return SECRET.test(name)
}

/** The length in place of a secret. */
export function shownField(name: string, value: string): string {
  return isSecret(name) ? `<${value.length} characters>` : value
}
