import { getCookies, setCookie } from 'undici'

export function mark(headers: globalThis.Headers): Record<string, string> {
  setCookie(headers, { name: 'a', value: 'b' })
  return getCookies(headers)
}
