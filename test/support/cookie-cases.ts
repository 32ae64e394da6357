/**
 * The Set-Cookie cases of web-platform-tests, which state what a browser shows after it has stored the cookies. They are
 * not part of the project.
 */
import { loadVectors } from './vectors.ts'

export interface CookieCase {
  file: string
  via: 'dom' | 'http' | 'redirect' | 'prefix'
  name: string
  setCookie: string[]
  cookie?: string
  accepted?: boolean
  secureOrigin?: boolean
  location?: string
  mayRejectMessage?: boolean
}

const NONE: { host: string; vectors: CookieCase[] } = { host: '', vectors: [] }

export const { data: cookieCases, skip: skipCookieCases } = loadVectors('cookies-wpt.json', NONE)

/** Cases that lost a part when they were written down, each with what is missing. */
export const DAMAGED_CASES: Readonly<Record<string, string>> = {
  "Return cookie for domain match (domain attribute is suffix of the host name and first level subdomain, with leading '.')":
    'The data lost a label: its location is the bare host, where a cookie for the www host must not show.',
  'No cookie returned for domain mismatch when cookie was created (which would match after the redirect, with two subdomain levels)':
    'The data lost the second subdomain level: its domain is the bare host, which the setting host does match.',
  'No cookie set on domain mismatch before a (domain matching) redirect (for second level subdomain)':
    'The data lost the second subdomain level: its domain is the bare host, which the setting host does match.',
}

/** The page on which a case runs. */
export function pageOf({ secureOrigin, file }: CookieCase, host: string): URL {
  // Only the prefix cases distinguish secure and insecure pages.
  const scheme = secureOrigin === false ? 'http' : 'https'
  // The child cases run inside a frame on the www host.
  const pageHost = file.includes('-child.') ? `www.${host}` : host
  return new URL(`${scheme}://${pageHost}/${file}`)
}

/** Whether the cookies that are shown after a case are those that it expects. */
export function agrees({ accepted, cookie, mayRejectMessage }: CookieCase, shown: string): boolean {
  if (accepted !== undefined) return accepted === (shown !== '')
  return shown === cookie || (mayRejectMessage === true && shown === '')
}
