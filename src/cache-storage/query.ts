/** Which stored entries a request means (Service Workers, "Request Matches Cached Item"). */
import { Request, type RequestInfo } from '../fetch/request.ts'

/** How exactly a request has to match. */
export interface CacheQueryOptions {
  /** Ignore the query of the URL. Default: false. */
  ignoreSearch?: boolean | undefined
  /** Match requests whose method is not GET. Default: false. */
  ignoreMethod?: boolean | undefined
  /** Ignore the `vary` field of the stored response. Default: false. */
  ignoreVary?: boolean | undefined
}

/** An entry, as far as matching is concerned. */
export interface Matchable {
  readonly request: Request
  /** The value of the response's `vary` field; null if there is none. */
  readonly vary: string | null
}

/** A request that stored ones are compared with, prepared once. */
export class CacheQuery {
  readonly #request: Request
  readonly #options: CacheQueryOptions
  readonly #url: string

  constructor(input: RequestInfo, options: CacheQueryOptions) {
    this.#request = toRequest(input)
    this.#options = options
    this.#url = this.#key(this.#request)
  }

  /** Only responses to GET are stored. */
  get canMatch(): boolean {
    return this.#request.method === 'GET' || Boolean(this.#options.ignoreMethod)
  }

  matches({ request, vary }: Matchable): boolean {
    if (this.#key(request) !== this.#url) return false
    if (vary === null || this.#options.ignoreVary) return true
    return fieldNames(vary).every((name) => request.headers.get(name) === this.#request.headers.get(name))
  }

  #key({ url }: Request): string {
    const parsed = new URL(url)
    parsed.hash = ''
    if (this.#options.ignoreSearch) parsed.search = ''
    return parsed.href
  }
}

/** A `Request` is taken as it is: its body is not needed, and stays unread. */
export function toRequest(input: RequestInfo): Request {
  return input instanceof Request ? input : new Request(input)
}

/** The names in a `vary` field. */
function fieldNames(vary: string): string[] {
  return vary
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
}

export function variesOnEverything(vary: string | null): boolean {
  return vary !== null && fieldNames(vary).includes('*')
}
