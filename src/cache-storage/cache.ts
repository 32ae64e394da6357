// biome-ignore-all lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
/** A named list of requests and responses (Service Workers §5.4), in memory, without freshness or limits. */
import { ownMembers } from '../base/object/own-options.ts'
import { shownValue } from '../base/text/shown-value.ts'
import type { RequestInput } from '../fetch/declared-classes.ts'
import { fetch } from '../fetch/fetch.ts'
import { type Request, withoutSignal } from '../fetch/request.ts'
import type { Response } from '../fetch/response.ts'
import { requireArguments, toDictionary } from '../web/idl.ts'
import { defineInterface } from '../web/interface.ts'
import { Entries } from './entries.ts'
import {
  CacheQuery,
  type CacheQueryOptions,
  type Entry,
  toRequest,
  variesOnEverything,
  withoutFragment,
} from './query.ts'
import { isResponseLike, type ResponseLike, storedResponse } from './stored-response.ts'

export type { CacheQueryOptions } from './query.ts'

const PARTIAL_CONTENT = 206
const HTTP_URL = /^https?:/

/** A default makes an argument optional for `length`, too. */
type Options = CacheQueryOptions | null | undefined

/** Passed to the constructor only from within this package. */
const INTERNAL = Symbol('internal')

class MemoryCache {
  readonly #entries: Entries

  constructor(key: unknown = undefined, entries: Entries = new Entries()) {
    if (key !== INTERNAL) throw new TypeError('TypeError: Illegal constructor')
    this.#entries = entries
  }

  /** The first stored response for a request; undefined if there is none. */
  async match(request: RequestInput, options: Options = undefined): Promise<Response | undefined> {
    requireArguments(arguments.length, 1, 'Cache.match')
    const [first] = this.#find(request, options, 'Cache.match')
    return first?.respond()
  }

  /** All stored responses for a request, or all. */
  async matchAll(
    request: RequestInput | undefined = undefined,
    options: Options = undefined,
  ): Promise<readonly Response[]> {
    const found = this.#find(request, options, 'Cache.matchAll')
    return Object.freeze(found.map(({ respond }) => respond()))
  }

  /** Fetches, and stores the response. */
  async add(request: RequestInput): Promise<undefined> {
    requireArguments(arguments.length, 1, 'Cache.add')
    await this.#addAll([request])
  }

  /** Fetches all, and stores the responses once all have arrived. */
  async addAll(requests: Iterable<RequestInput>): Promise<undefined> {
    requireArguments(arguments.length, 1, 'Cache.addAll')
    await this.#addAll(requests)
  }

  /** Stores a response, whose body is read. It replaces the one that matched the request. */
  async put(request: RequestInput, response: Response | ResponseLike): Promise<undefined> {
    requireArguments(arguments.length, 2, 'Cache.put')
    if (!isResponseLike(response)) {
      throw new TypeError(
        `Cache.put: Expected response ("${shownValue(response)}") to be an instance of Response.`,
      )
    }
    const given = toRequest(request)
    if (!HTTP_URL.test(given.url) || given.method !== 'GET') {
      throw new TypeError('Cache.put: Expected an http/s scheme when method is not GET')
    }
    if (response.status === PARTIAL_CONTENT) throw new TypeError('Cache.put: Got 206 status')
    if (variesOnEverything(response.headers.get('vary'))) {
      throw new TypeError('Cache.put: Got * vary field value')
    }
    if (response.bodyUsed || response.body?.locked) {
      throw new TypeError('Cache.put: Response body is locked or disturbed')
    }
    this.#entries.store([await entryOf(given, response)])
  }

  /** Whether there was one to delete. */
  async delete(request: RequestInput, options: Options = undefined): Promise<boolean> {
    requireArguments(arguments.length, 1, 'Cache.delete')
    const found = this.#find(request, options, 'Cache.delete')
    this.#entries.remove(found)
    return found.length > 0
  }

  /** The stored requests that match a request, or all. */
  async keys(
    request: RequestInput | undefined = undefined,
    options: Options = undefined,
  ): Promise<readonly Request[]> {
    const found = this.#find(request, options, 'Cache.keys')
    return Object.freeze(found.map(({ request: stored }) => stored.clone()))
  }

  #find(request: RequestInput | undefined, options: Options, where: string): readonly Entry[] {
    const given: CacheQueryOptions = ownMembers(toDictionary(options, where) ?? {})
    return this.#entries.find(request === undefined ? null : new CacheQuery(request, given))
  }

  async #addAll(inputs: Iterable<RequestInput>): Promise<void> {
    const requests: Request[] = []
    for (const input of inputs) {
      if (input === undefined) {
        throw new TypeError('Cache.addAll: Argument 1 could not be converted to: undefined is not allowed.')
      }
      const request = toRequest(input)
      if (!HTTP_URL.test(request.url)) throw new TypeError('Cache.addAll: Expected http/s scheme.')
      if (request.method !== 'GET') {
        throw new TypeError('Cache.addAll: Expected http/s scheme when method is not GET.')
      }
      requests.push(request)
    }
    // The first failure ends the others: nothing is stored.
    const controller = new AbortController()
    try {
      this.#entries.store(
        await Promise.all(requests.map((request) => fetchEntry(request, controller.signal))),
      )
    } finally {
      controller.abort()
    }
  }
}

defineInterface(MemoryCache, 'Cache')

/** Responses by their requests. */
export interface Cache extends Pick<MemoryCache, keyof MemoryCache> {}

/** A view of these entries. */
export function cacheOf(entries: Entries): Cache {
  return new MemoryCache(INTERNAL, entries)
}

async function fetchEntry(request: Request, signal: AbortSignal): Promise<Entry> {
  const response = await fetch(request.clone(), { signal }).catch(failed)
  if (!response.ok || response.status === PARTIAL_CONTENT) return failed()
  if (variesOnEverything(response.headers.get('vary'))) {
    throw new TypeError('Cache.addAll: invalid vary field value')
  }
  return entryOf(request, response).catch(failed)
}

function failed(cause?: unknown): never {
  const options = cause === undefined ? undefined : { cause }
  throw new TypeError('Cache.addAll: Received an invalid status code or the request failed.', options)
}

/** The request is copied: its owner may change its headers later, and its signal may fire. */
async function entryOf(request: Request, response: ResponseLike): Promise<Entry> {
  const vary = response.headers.get('vary')
  const stored = withoutSignal(request)
  return { request: stored, url: withoutFragment(stored.url), vary, respond: await storedResponse(response) }
}
