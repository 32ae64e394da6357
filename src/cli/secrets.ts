/** Which parts of an exchange are secrets, and what is shown instead of them. */

export type Field = readonly [name: string, value: string]

export const REDACTED = '(redacted)'

const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization'])

/** Fields that an archive, which is made to be passed on, does not have either. */
const SECRET_FIELD =
  /^(?:set-cookie2?|cookie2?|(?:x-)?(?:api|auth)-?key|.*-(?:api-key|token|secret|password))$/i

/** Parameters of a URL or a form. */
const SECRET_PARAMETER =
  /^(?:.*[-_.])?(?:api[-_]?key|(?:access|auth|id|refresh)?[-_]?token|secret|password|passwd|pwd|signature|sig|credential)$/i

/** The schemes of the IANA registry, and those in wide use beside it. */
const SCHEME =
  /^(aws4-hmac-sha256|basic|bearer|concealed|digest|dpop|gnap|hoba|mutual|negotiate|ntlm|oauth|privatetoken|scram-sha-1|scram-sha-256|token|vapid)[ \t]+\S/i

/**
 * Keeps the scheme of credentials and hides the rest. Without a known scheme, the first word may be the secret itself.
 */
export function redact([name, value]: Field): Field {
  if (!CREDENTIALS.has(name.toLowerCase())) return [name, value]
  const scheme = SCHEME.exec(value)?.[1]
  return [name, scheme === undefined ? REDACTED : `${scheme} ${REDACTED}`]
}

/** For archives: also cookies and keys. */
export function redactArchived(field: Field): Field {
  return SECRET_FIELD.test(field[0]) ? [field[0], REDACTED] : redact(field)
}

export function redactParameter([name, value]: Field): Field {
  return [name, SECRET_PARAMETER.test(name) ? REDACTED : value]
}

/** A URL without the secrets of its query; the same one if there are none. */
export function redactUrl(url: URL): URL {
  const pairs = [...url.searchParams]
  if (!pairs.some(([name]) => SECRET_PARAMETER.test(name))) return url
  const shown = new URL(url)
  shown.search = String(new URLSearchParams(pairs.map(redactParameter) as [string, string][]))
  return shown
}
