/** Which stored entries a request means (Service Workers, "Request Matches Cached Item"). */
import type { RequestInput } from '../fetch/declared-classes.ts'
import { Request } from '../fetch/request.ts'
import type { Response } from '../fetch/response.ts'

/** How exactly a request has to match. */
export interface CacheQueryOptions {
  /** Ignore the query of the URL. Default: false. */
  ignoreSearch?: boolean | undefined
  /** Match requests whose method is not GET. Default: false. */
  ignoreMethod?: boolean | undefined
  /** Ignore the `vary` field of the stored response. Default: false. */
  ignoreVary?: boolean | undefined
}

/** A stored request and its response. */
export interface Entry {
  /** Without the fragment. */
  readonly url: string
  readonly request: Request
  /** The value of the response's `vary` field; null if there is none. */
  readonly vary: string | null
  /** A new response with each call. */
  readonly respond: () => Response
}

/** A request that stored ones are compared with, prepared once. */
export class CacheQuery {
  readonly #request: Request
  readonly #options: CacheQueryOptions
  /** Only responses to GET are stored. */
  readonly canMatch: boolean
  /** Without the fragment. */
  readonly url: string
  /** Without the query; null if the query counts, and entries of other URLs cannot match. */
  readonly page: string | null

  constructor(input: RequestInput, options: CacheQueryOptions = {}) {
    this.#request = toRequest(input)
    this.#options = options
    this.canMatch = this.#request.method === 'GET' || Boolean(options.ignoreMethod)
    this.url = withoutFragment(this.#request.url)
    this.page = options.ignoreSearch ? withoutQuery(this.url) : null
  }

  matches({ request, url, vary }: Entry): boolean {
    if (this.page === null ? url !== this.url : withoutQuery(url) !== this.page) return false
    if (vary === null || this.#options.ignoreVary) return true
    return fieldNames(vary).every((name) => request.headers.get(name) === this.#request.headers.get(name))
  }
}

/** Of a serialised URL, where the first `#` begins the fragment. */
export function withoutFragment(url: string): string {
  return url.split('#', 1)[0]!
}

function withoutQuery(url: string): string {
  return url.split('?', 1)[0]!
}

/** A `Request` is taken as it is: its body is not needed, and stays unread. */
export function toRequest(input: RequestInput): Request {
  return input instanceof Request ? input : new Request(input)
}

/** The names in a `vary` field. */
function fieldNames(vary: string): string[] {
  const names = vary.split(',').map((name) => name.trim().toLowerCase())
  return names.filter((name) => name !== '')
}

export function variesOnEverything(vary: string | null): boolean {
  return vary !== null && fieldNames(vary).includes('*')
}
