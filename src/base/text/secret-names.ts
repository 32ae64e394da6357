/** The names of header fields, and of parameters in queries and forms, whose values are secrets. */

const CREDENTIALS = /^(?:proxy-)?authorization$/i

const FIELD = /^(?:set-cookie2?|cookie2?|(?:x-)?(?:api|auth)-?key|.*-(?:api-key|token|secret|password))$/i

const PARAMETER =
  /^(?:.*[-_.])?(?:api[-_]?key|(?:access|auth|id|refresh)?[-_]?token|secret|password|passwd|pwd|signature|sig|credential)$/i

/** Whether the value is a scheme of authentication with the secret after it. */
export function isCredentials(name: string): boolean {
  return CREDENTIALS.test(name)
}

export function isSecretField(name: string): boolean {
  return FIELD.test(name) || CREDENTIALS.test(name)
}

export function isSecretParameter(name: string): boolean {
  return PARAMETER.test(name)
}
