/** `ventuno/cookies`: the cookie helpers and the jar. */

export { deleteCookie, getCookies, getSetCookies, parseCookie, setCookie } from './cookies/api.ts'
export type { Cookie } from './cookies/cookie.ts'
export type { CookieFilter } from './cookies/jar/cookie-jar.ts'
export { CookieJar } from './cookies/jar/cookie-jar.ts'
export type { SerializedCookie, SerializedCookieJar } from './cookies/jar/json.ts'
export type { CookieContext, CookieJarOptions } from './cookies/jar/options.ts'
export type { RedisCookieStoreOptions } from './cookies/jar/redis-cookie-store.ts'
export { RedisCookieStore } from './cookies/jar/redis-cookie-store.ts'
export type { JarCookie } from './cookies/jar/stored-cookie.ts'
