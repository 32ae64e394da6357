/**
 * The request fields, in lower case, that layers nearer to the network write: the cache cannot see their values.
 * It learns of them with responses, and remembers for whom they are written.
 */
import { sentOrigin } from '../relay/target-uri.ts'

/** Credentials are for one origin (RFC 9110 §11.5). A jar has cookies for any. */
const FOR_ONE_ORIGIN = 'authorization'

/**
 * Origins with credentials that are remembered. With more, all count as such: a response is then stored too rarely,
 * never for the wrong user.
 */
const MAX_ORIGINS = 1000

export class HiddenFields {
  readonly #anywhere = new Set<string>()
  /** The same, and the credentials. */
  readonly #authorized = new Set<string>([FOR_ONE_ORIGIN])
  readonly #origins = new Set<string>()

  /** `origin` is that of a key. */
  add(origin: string, names: readonly string[]): void {
    for (const name of names) {
      if (name === FOR_ONE_ORIGIN && this.#remember(sentOrigin(origin))) continue
      this.#anywhere.add(name)
      this.#authorized.add(name)
    }
  }

  /** False if there is no room for it. */
  #remember(site: string): boolean {
    if (this.#origins.size >= MAX_ORIGINS && !this.#origins.has(site)) return false
    this.#origins.add(site)
    return true
  }

  /** Those of requests to the origin of a key. */
  of(origin: string): ReadonlySet<string> {
    const isAuthorized = this.#origins.size > 0 && this.#origins.has(sentOrigin(origin))
    return isAuthorized ? this.#authorized : this.#anywhere
  }
}
