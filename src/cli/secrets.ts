/** What the command shows in place of the secrets of an exchange. */
import { isCredentials, isSecretField, isSecretParameter } from '../base/text/secret-names.ts'

export type Field = readonly [name: string, value: string]

export const REDACTED = '(redacted)'

/** The schemes of the IANA registry, and those in wide use beside it. */
const SCHEME =
  /^(aws4-hmac-sha256|basic|bearer|concealed|digest|dpop|gnap|hoba|mutual|negotiate|ntlm|oauth|privatetoken|scram-sha-1|scram-sha-256|token|vapid)[ \t]+\S/i

/** Fields that have a URL. */
const URL_FIELD = /^(?:(?:content-)?location|refresh|link|referer)$/i

/** User info, up to the last `@` of the authority. */
const USER_INFO = /\/\/[^/?#\s<>]*@/g

/** A parameter of a query, or of a fragment: some services return tokens there (RFC 6749 §4.2.2). */
const PARAMETER = /([?&#])([^?&#=\s<>]+)=[^&#\s<>]*/g

/** Hides all but the scheme of credentials. Without a known scheme, the first word may be the secret. */
export function redact(field: Field): Field {
  const [name, value] = field
  if (!isCredentials(name)) return field
  const scheme = SCHEME.exec(value)?.[1]
  return [name, scheme === undefined ? REDACTED : `${scheme} ${REDACTED}`]
}

/** For archives, which are made to be passed on: also cookies and keys, and secrets of URLs. */
export function redactArchived(field: Field): Field {
  const [name, value] = field
  if (isCredentials(name)) return redact(field)
  if (isSecretField(name)) return [name, REDACTED]
  return URL_FIELD.test(name) ? [name, redactUrls(value)] : field
}

export function redactParameter([name, value]: Field): Field {
  return [name, isSecretParameter(name) ? REDACTED : value]
}

/** Removes user info, and the secrets in queries and fragments, from the URLs in a text. */
export function redactUrls(text: string): string {
  return text
    .replace(USER_INFO, '//')
    .replace(PARAMETER, (whole, before: string, name: string) =>
      isSecretParameter(new URLSearchParams(name).keys().next().value ?? name)
        ? `${before}${name}=${REDACTED}`
        : whole,
    )
}
