import { type Cookie, deleteCookie, getCookies, getSetCookies, Headers, setCookie } from 'undici'

const headers = new Headers()
setCookie(headers, { name: 'a', value: 'b', secure: true, sameSite: 'Lax', expires: new Date() })
deleteCookie(headers, 'a', { path: '/', domain: 'a.test' })
const cookies: Cookie[] = getSetCookies(headers)
export const all: Record<string, string> = getCookies(headers)
export const names: string[] = cookies.map(({ name }) => name)
