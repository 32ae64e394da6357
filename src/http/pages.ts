/** The pages of a list, one request after the other, as far as the program asks for them. */
import { InvalidArgumentError } from '../errors.ts'
import type { HttpCall } from './call.ts'
import { harmlessFields, withFields } from './headers.ts'
import { linkTarget } from './link-header.ts'
import type { HttpCallOptions, HttpQuery } from './options.ts'
import type { HttpResponse } from './response.ts'
import { checkSchema, type StandardSchema } from './standard-schema.ts'
import { shownTarget } from './target.ts'

/** Where the next page is: relative to the page, or other parameters of the same path. */
export type NextPage = string | URL | { readonly query: HttpQuery } | null | undefined

/** Options of `paginate()`: those of a call, and how the pages follow each other. */
export interface HttpPageOptions<T> extends HttpCallOptions {
  /** Says where the next page is; null ends the pages. Default: the `Link` field with `rel="next"`. */
  next?: ((page: T, response: HttpResponse) => NextPage | Promise<NextPage>) | undefined
  /** Each page is checked with it, and has its type. */
  schema?: StandardSchema<T> | undefined
}

export interface PageRequests<T> {
  readonly get: (path: string | URL, options: HttpCallOptions) => HttpCall
  /** The origin of the first page: the credentials are for it alone. */
  readonly home: string
  readonly path: string | URL
  readonly options: HttpCallOptions
  readonly next: HttpPageOptions<T>['next']
  readonly schema: StandardSchema<T> | undefined
}

/** What is wrong with the arguments is told before the first page is asked for. */
export function readPages<T>(requests: PageRequests<T>): AsyncGenerator<T, void, void> {
  const { next = byLink, schema } = requests
  checkSchema(schema)
  if (typeof next !== 'function') throw new InvalidArgumentError('next must be a function')
  return pagesOf(requests, next)
}

async function* pagesOf<T>(
  { get, home, path: first, options, schema }: PageRequests<T>,
  next: NonNullable<HttpPageOptions<T>['next']>,
): AsyncGenerator<T, void, void> {
  let path: string | URL = first
  let own = options
  for (;;) {
    const response = await get(path, own)
    const page = await (schema === undefined ? response.json<T>() : response.json(schema))
    yield page
    const following = await next(page, response)
    if (following === null || following === undefined) return
    if (typeof following !== 'string' && !(following instanceof URL)) {
      if (typeof following.query !== 'object') {
        throw new InvalidArgumentError('next must return a string, a URL, { query } or null')
      }
      own = { ...own, query: { ...membersOf(options.query), ...membersOf(following.query) } }
      continue
    }
    const url = URL.canParse(`${following}`, response.url) ? new URL(following, response.url) : null
    // The error of the runtime would show the page's URL, with its secrets.
    if (url === null) throw new InvalidArgumentError('the URL of the next page is invalid')
    if (url.href === response.url) {
      throw new InvalidArgumentError(`the page after ${shownTarget(url.href)} is the same one`)
    }
    path = url
    // The link has the parameters of the call already. Where it leads elsewhere, so does what the call has.
    const { headers } = options
    const isForeign = url.origin !== home && headers !== undefined
    own = {
      ...options,
      query: undefined,
      headers: isForeign ? harmlessFields(withFields({}, headers)) : headers,
    }
  }
}

function byLink(_page: unknown, { headers }: HttpResponse): string | null {
  return linkTarget(headers['link'], 'next')
}

function membersOf(query: HttpQuery | undefined): Exclude<HttpQuery, URLSearchParams> | undefined {
  if (!(query instanceof URLSearchParams)) return query
  return Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]))
}
