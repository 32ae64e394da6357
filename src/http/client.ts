/**
 * The client: methods without `this`, so that they can be taken out of it, made of settings that never change.
 * What a call needs is looked up once for each dispatcher, not for each call.
 */

import { checkSignal } from '../api/api-handler.ts'
import { ClientClosedError, InvalidArgumentError } from '../errors.ts'
import { getGlobalDispatcher } from '../global/global-dispatcher.ts'
import { isToken } from '../protocol/ascii.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { lengthOf, readBody } from './body.ts'
import { HttpCall } from './call.ts'
import { type CallPlan, type CallRequest, CallRun } from './call-run.ts'
import { acceptingCodings, harmlessFields } from './headers.ts'
import { checkNames, type OptionPlace } from './known-options.ts'
import { composed, ownOrigin, retryOptionsOf } from './layers.ts'
import type { HttpBodyOptions, HttpCallOptions, HttpOptions } from './options.ts'
import { type HttpPageOptions, readPages } from './pages.ts'
import type { Progress } from './progress.ts'
import { readQuery } from './query.ts'
import { type CallSettings, ownOf, readCallSettings, readSettings, type Settings } from './settings.ts'
import { targetOf } from './target.ts'

/** A client for calling services. */
export interface Http {
  /** A string is a path below the base URL. */
  get(path: string | URL, options?: HttpCallOptions): HttpCall
  /** The response has no body. */
  head(path: string | URL, options?: HttpCallOptions): HttpCall
  /** Not repeated if the server may have processed it, unless `idempotent` allows it. */
  post(path: string | URL, options?: HttpBodyOptions): HttpCall
  /** Creates or replaces what the path names. */
  put(path: string | URL, options?: HttpBodyOptions): HttpCall
  /** Changes a part of what the path names; repeated as a POST is. */
  patch(path: string | URL, options?: HttpBodyOptions): HttpCall
  /** May have a body, which few servers read. */
  delete(path: string | URL, options?: HttpBodyOptions): HttpCall
  /** With any method. */
  request(method: string, path: string | URL, options?: HttpBodyOptions): HttpCall
  /** The pages of a list, parsed; the next one is requested when the loop asks for it. */
  paginate<T = unknown>(path: string | URL, options?: HttpPageOptions<T>): AsyncGenerator<T, void, void>
  /** A client with these options over those of this one. */
  extend(options: HttpOptions): Http
  /** Takes no more calls, and resolves when those that run are over. The dispatcher stays open. */
  close(): Promise<void>
}

type Given = HttpBodyOptions & { readonly signal?: unknown; readonly cookies?: unknown }

/** What a call without options has. */
const NO_OPTIONS: Given = Object.freeze(Object.create(null))

export function clientOf(settings: Settings): Http {
  let open = 0
  let onClosed: (() => void) | null = null
  let closed: Promise<void> | null = null
  /** The dispatcher with the interceptors around it. The global one may change. */
  let below: Dispatching | null = null
  let stack: Dispatching | null = null
  /** Of calls that have none of their own. */
  const { layers, acceptsCodings } = settings
  const usualFields = acceptsCodings ? acceptingCodings(settings.headers) : settings.headers

  const stackOf = (): Dispatching => {
    const dispatcher = settings.dispatcher ?? getGlobalDispatcher()
    if (stack === null || below !== dispatcher) {
      stack = composed(dispatcher, settings)
      below = dispatcher
    }
    return stack
  }
  const onOver = (): void => {
    open--
    if (open === 0) onClosed?.()
  }

  const call = (
    method: string,
    path: string | URL,
    options: unknown,
    place: OptionPlace,
    home?: string,
  ): HttpCall => {
    if (closed !== null) throw new ClientClosedError('The client is closed')
    const given = options === undefined ? NO_OPTIONS : readGiven(options, place)
    const query = given.query === undefined ? null : readQuery(given.query, 'query')
    const { origin, path: target, isForeign } = targetOf(path, settings.base, settings.query, query, home)
    const parent = isForeign ? { ...settings, headers: harmlessFields(settings.headers) } : settings
    const own = given === NO_OPTIONS ? parent : readCallSettings(given as HttpOptions, parent)
    const dispatcher = stackOf()
    const only = ownOrigin(below!)
    if (only && origin !== only)
      throw new InvalidArgumentError(`the dispatcher sends to ${only}, not to ${origin}`)
    const headers =
      own === settings ? usualFields : acceptsCodings ? acceptingCodings(own.headers) : own.headers
    const opts: CallRequest = { origin, path: target, method, headers, body: null, signal: null }
    const plan = { opts, settings: own, dispatcher, own: only, outer: layers, onOver }
    const run = new CallRun(
      given === NO_OPTIONS
        ? { ...plan, uploadLength: null, onUpload: null, onDownload: null }
        : { ...plan, ...addOptions(opts, given, own, settings) },
    )
    open++
    return new HttpCall(run)
  }

  const withoutBody = (method: string) => (path: string | URL, options?: HttpCallOptions) =>
    call(method, path, options, 'a call')
  const withBody = (method: string) => (path: string | URL, options?: HttpBodyOptions) =>
    call(method, path, options, 'a call with a body')

  return Object.freeze({
    get: withoutBody('GET'),
    head: withoutBody('HEAD'),
    post: withBody('POST'),
    put: withBody('PUT'),
    patch: withBody('PATCH'),
    delete: withBody('DELETE'),
    request(method: string, path: string | URL, options?: HttpBodyOptions): HttpCall {
      if (typeof method !== 'string' || !isToken(method) || method === 'CONNECT') {
        throw new InvalidArgumentError('method must be a method of HTTP other than CONNECT')
      }
      return call(method, path, options, 'a call with a body')
    },
    paginate<T>(path: string | URL, options: HttpPageOptions<T> = {}) {
      checkNames(options, 'paginate()')
      const { next, schema, ...rest } = ownOf(options)
      readCallSettings(readGiven(rest, 'a call') as HttpOptions, settings)
      const query = rest.query === undefined ? null : readQuery(rest.query, 'query')
      const home = targetOf(path, settings.base, null, query).origin
      const get = (page: string | URL, own: HttpCallOptions) => call('GET', page, own, 'a call', home)
      return readPages<T>({ get, home, path, options: rest, next, schema })
    },
    extend: (options: HttpOptions) => extended(options, settings),
    close(): Promise<void> {
      closed ??= new Promise<void>((resolve) => {
        onClosed = resolve
        if (open === 0) resolve()
      })
      return closed
    },
  })
}

/** What can be told to be wrong without a call is told at once. */
function extended(options: HttpOptions, parent: Settings): Http {
  const settings = readSettings(options, parent)
  if (settings.dispatcher !== null) composed(settings.dispatcher, settings)
  return clientOf(settings)
}

function readGiven(options: unknown, place: OptionPlace): Given {
  checkNames(options, place)
  const given = ownOf(options as Given)
  checkSignal(given.signal)
  checkProgress(given.onUploadProgress, 'onUploadProgress')
  checkProgress(given.onDownloadProgress, 'onDownloadProgress')
  if (given.cookies !== undefined && given.cookies !== false) {
    throw new InvalidArgumentError('cookies of a call can only be false: give a jar to extend()')
  }
  if (given.redirect !== undefined && given.redirect !== false && typeof given.redirect !== 'number') {
    throw new InvalidArgumentError('redirect of a call must be a number or false: give options to extend()')
  }
  return given
}

function checkProgress(given: Progress | undefined, name: string): void {
  if (given !== undefined && typeof given !== 'function') {
    throw new InvalidArgumentError(`${name} must be a function`)
  }
}

/** What only calls with options have. */
function addOptions(
  opts: CallRequest,
  given: Given,
  own: CallSettings,
  { retry, attempt, hooks }: Settings,
): Pick<CallPlan, 'uploadLength' | 'onUpload' | 'onDownload'> {
  const { content, type } = readBody(given)
  const isRepeated = own.retry !== null || own.attempt > 0
  if (type !== null && opts.headers['content-type'] === undefined) {
    opts.headers = { ...opts.headers, 'content-type': type }
  }
  // Without retries nothing below takes a function.
  opts.body = typeof content === 'function' && !isRepeated ? content() : content
  opts.signal = given.signal ?? null
  if (own.retry !== retry || own.attempt !== attempt || own.hooks.beforeRetry !== hooks.beforeRetry) {
    opts.retryOptions = retryOptionsOf(own) ?? { maxRetries: 0 }
  }
  if (given.cookies === false) opts.cookies = false
  if (given.idempotent !== undefined) opts.idempotent = given.idempotent
  return {
    uploadLength: given.onUploadProgress === undefined ? null : lengthOf(content),
    onUpload: given.onUploadProgress ?? null,
    onDownload: given.onDownloadProgress ?? null,
  }
}
