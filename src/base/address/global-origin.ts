/**
 * The base URL of relative URLs in `fetch` and the other web interfaces. Stored under the symbol that undici
 * and the runtime use, so that all of them share one value.
 */
import { parseUrl } from './parse-url.ts'

const GLOBAL_ORIGIN = Symbol.for('undici.globalOrigin.1')

type Globals = Record<symbol, URL | undefined>

/**
 * Sets the base URL of relative URLs in `fetch`.
 *
 * @param origin An http or https URL; undefined for none.
 */
export function setGlobalOrigin(origin: string | URL | undefined): void {
  const url = origin === undefined ? undefined : parseUrl(origin)
  if (url !== undefined && url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`Only http & https urls are allowed, received ${url.protocol}`)
  }
  Reflect.defineProperty(globalThis, GLOBAL_ORIGIN, {
    value: url,
    writable: true,
    enumerable: false,
    configurable: false,
  })
}

/** The base URL of relative URLs in `fetch`; undefined if none is set. */
export function getGlobalOrigin(): URL | undefined {
  return (globalThis as unknown as Globals)[GLOBAL_ORIGIN]
}
