/**
 * What relative URLs of `fetch` are relative to. Kept where undici and the runtime keep it (contract: fetch.md 2).
 */
const GLOBAL_ORIGIN = Symbol.for('undici.globalOrigin.1')

type Globals = Record<symbol, URL | undefined>

/**
 * Sets what relative URLs of `fetch` are relative to.
 *
 * @param origin An http or https URL; undefined for none.
 */
export function setGlobalOrigin(origin: string | URL | undefined): void {
  const url = origin === undefined ? undefined : new URL(origin)
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

/** What relative URLs are resolved against; undefined for nothing. */
export function getGlobalOrigin(): URL | undefined {
  return (globalThis as unknown as Globals)[GLOBAL_ORIGIN]
}
