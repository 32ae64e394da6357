/** The cache between one dispatcher and its callers: looks responses up, serves them, and sends what it cannot answer. */
import { OriginReader } from '../base/origin-reader.ts'
import { withoutPollution } from '../base/own-options.ts'
import { ignoreRejection } from '../base/stray-promise.ts'
import type { Dispatch } from '../dispatcher/compose.ts'
import { InvalidArgumentError } from '../errors.ts'
import { contain } from '../relay/body-delivery.ts'
import { Caller, SILENT } from '../relay/caller.ts'
import { isComplete, refuse } from '../relay/refusal.ts'
import { replayOf } from '../relay/replay.ts'
import { readableAgain } from '../relay/request-headers.ts'
import { type RequestView, viewPassing, viewRequest } from '../relay/request-view.ts'
import { requestedUrls } from '../relay/response-facts.ts'
import { sentOrigin, targetOrigin, withPartition } from '../relay/target-uri.ts'
import { destroyStream, isStream } from '../request/body-source.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { logicalOrigin } from '../request/logical-origin.ts'
import type { CacheHost } from './cache-host.ts'
import { Exchange } from './exchange.ts'
import { Flights } from './flights.ts'
import { InFlight, urlOf } from './in-flight.ts'
import { type CacheSettings, isListed } from './options.ts'
import { Presenter } from './presenter.ts'
import { type ForwardReason, ttlOf } from './rules/cache-status.ts'
import { invalidatedPaths, isSafe, type OriginHead } from './rules/invalidation.ts'
import { needsOrigin } from './rules/preconditions.ts'
import { serviceOf } from './rules/serving-rules.ts'
import { namesHidden, varyText } from './rules/vary.ts'
import { discardBody } from './store/body-readers.ts'
import type { CacheGetResult, CacheKey } from './store/cache-store.ts'
import type { StoreAccess } from './store/store-access.ts'
import { WaitingBody } from './waiting-body.ts'

type Found = CacheGetResult | undefined

export class CacheLayer implements CacheHost {
  readonly settings: CacheSettings
  readonly access: StoreAccess
  readonly presenter: Presenter
  readonly inFlight: InFlight = new InFlight()
  readonly flights: Flights = new Flights()
  readonly dispatch: Dispatch
  readonly isDestroyed: () => boolean
  maxResponseSize: number | undefined
  readonly #origins = new OriginReader()
  readonly #ownOrigin: string | null | undefined
  /** The stored responses that a background request is bringing up to date. */
  readonly #refreshing = new Set<string>()

  /** `ownOrigin`: the only one of the dispatcher; null if it chooses among several, undefined if each request names one. */
  constructor(
    settings: CacheSettings,
    access: StoreAccess,
    dispatch: Dispatch,
    ownOrigin: string | null | undefined,
    isDestroyed: () => boolean,
  ) {
    // Another composition has other layers below.
    this.settings = { ...settings, hidden: new Set() }
    this.access = access
    this.presenter = new Presenter(settings.cacheStatus)
    this.dispatch = dispatch
    this.isDestroyed = isDestroyed
    this.#ownOrigin = ownOrigin
  }

  handle(opts: DispatchOptions, handler: DispatchHandler): boolean {
    if (!isObject(opts) || !isObject(handler) || !isComplete(handler)) return this.dispatch(opts, handler)
    const { method } = opts
    if (typeof method !== 'string' || opts.upgrade || method === 'CONNECT')
      return this.dispatch(opts, handler)
    const origin = this.#originOf(opts)
    // A jar that has not been used yet: the cookies of its user come in further inside, where the key does not see them.
    if (origin === null || isObject(opts.cookies)) return this.#pass(opts, handler, 'bypass')
    const isStorable = this.settings.methods.has(method)
    if (!isStorable && isSafe(method)) return this.#pass(opts, handler, 'bypass')
    let request = opts
    let view: RequestView | null
    try {
      // An iterator can be read only once, and the dispatcher reads what the cache cannot.
      const headers = readableAgain(opts.headers)
      if (headers !== opts.headers) request = withoutPollution({ ...opts, headers })
      view = viewRequest(request, origin, isStorable)
      if (view !== null) this.#addPartition(view.key, request)
    } catch (error) {
      return refuse(opts, handler, error)
    }
    if (view === null) return this.dispatch(request, handler)
    const caller = new Caller(handler, this.maxResponseSize)
    if (!isStorable) return this.#forward(view, caller, undefined, view.key, 'method')
    if (view.control['no-store'] === true) return this.#pass(view.opts, handler, 'bypass')
    return this.#lookUp(view, caller)
  }

  /** Null if the cache has no part in it: no origin, or not one of those that it is for. */
  #originOf(opts: DispatchOptions): string | null {
    if (this.#ownOrigin === null) return null
    // A dispatcher of one origin sends there whatever the request names.
    const origin = this.#origins.read(this.#ownOrigin ?? logicalOrigin(opts))
    return origin !== null && isListed(origin, this.settings.origins) ? origin : null
  }

  #addPartition(key: CacheKey, opts: DispatchOptions): void {
    if (this.settings.partition === null) return
    const partition = this.settings.partition(opts)
    ignoreRejection(partition)
    if (typeof partition !== 'string') throw new InvalidArgumentError('partition must return a string')
    key.origin = withPartition(key.origin, partition)
  }

  #pass(opts: DispatchOptions, handler: DispatchHandler, reason: ForwardReason): boolean {
    if (this.settings.cacheStatus === null) return this.dispatch(opts, handler)
    const view = viewPassing(opts)
    return this.#forward(view, new Caller(handler), undefined, view.key, reason)
  }

  #lookUp(view: RequestView, caller: Caller): boolean {
    const { key } = view
    // A response to GET answers HEAD as well (RFC 9111 §4).
    const firstKey = key.method === 'HEAD' ? { ...key, method: 'GET' } : key
    const found = this.access.get(firstKey, Date.now())
    if (found instanceof Promise) return this.#await(view, caller, found, firstKey)
    if (found === undefined && firstKey !== key) return this.#lookUpHead(view, caller)
    return this.#respond(view, caller, found, firstKey)
  }

  #lookUpHead(view: RequestView, caller: Caller): boolean {
    const found = this.access.get(view.key, Date.now())
    if (found instanceof Promise) return this.#await(view, caller, found, view.key)
    return this.#respond(view, caller, found, view.key)
  }

  /** A store answers later: outside of any call that could report what is thrown then. */
  #await(view: RequestView, caller: Caller, answer: Promise<Found>, foundKey: CacheKey): true {
    const { body } = view.opts
    const waiting = isStream(body) ? new WaitingBody(body, caller) : null
    caller.announce()
    void answer.then((found) => {
      waiting?.end()
      if (caller.settled) discardBody(found?.body)
      else this.#continue(view, caller, found, foundKey)
    })
    return true
  }

  #continue(view: RequestView, caller: Caller, found: Found, foundKey: CacheKey): void {
    try {
      if (found === undefined && foundKey !== view.key) this.#lookUpHead(view, caller)
      else this.#respond(view, caller, found, foundKey)
    } catch (error) {
      contain(() => caller.abort(error))
    }
  }

  #respond(view: RequestView, caller: Caller, stored: Found, foundKey: CacheKey): boolean {
    let found = stored
    // It was selected by values that the request will not be sent with.
    if (found?.vary && namesHidden(Object.keys(found.vary), this.settings.hidden)) {
      discardBody(found.body)
      found = undefined
    }
    const onlyIfCached = view.control['only-if-cached'] === true
    if (found === undefined) {
      return onlyIfCached
        ? this.#refuse(view, caller, 'miss')
        : this.#forward(view, caller, undefined, foundKey, 'miss')
    }
    if (needsOrigin(view.headers)) {
      discardBody(found.body)
      return this.#forward(view, caller, undefined, foundKey, 'request')
    }
    const now = Date.now()
    const service = serviceOf(found, view.control, now, this.settings.type)
    if (service === 'revalidate' || service === 'request') {
      const reason = service === 'request' ? 'request' : 'stale'
      if (onlyIfCached) {
        discardBody(found.body)
        return this.#refuse(view, caller, reason)
      }
      return this.#forward(view, caller, found, foundKey, reason)
    }
    caller.fromStore()
    const isRevalidated = service === 'while-revalidating'
    const serving = this.presenter.present(view, caller, found, isRevalidated, {
      kind: 'hit',
      ttl: ttlOf(found, now),
    })
    dropBody(view)
    serving.startLater()
    if (isRevalidated) this.#refresh(view, found, foundKey)
    return true
  }

  #refuse(view: RequestView, caller: Caller, reason: ForwardReason): boolean {
    dropBody(view)
    this.presenter.refuse(caller, 504, 'Gateway Timeout', { kind: 'forwarded', reason }).startLater()
    return true
  }

  #forward(
    view: RequestView,
    caller: Caller,
    found: Found,
    foundKey: CacheKey,
    reason: ForwardReason,
  ): boolean {
    let entry = found ?? null
    // A body that can be read once must not be spent on a conditional request.
    if (entry !== null && replayOf(view.opts.body) !== 'always') {
      discardBody(entry.body)
      entry = null
    }
    const shared = this.settings.collapse && view.storable && this.flights.mayCollapse(view, Date.now())
    if (shared) {
      const flight = this.flights.get(view) as Exchange | undefined
      if (flight?.join(caller, view)) {
        discardBody(entry?.body)
        return true
      }
    }
    const exchange = new Exchange(this, caller, { view, reason, entry, entryKey: foundKey, shared })
    if (shared) this.flights.start(exchange)
    return exchange.send()
  }

  forwardAlone(view: RequestView, caller: Caller): void {
    if (caller.settled) return
    new Exchange(this, caller, {
      view,
      reason: 'miss',
      entry: null,
      entryKey: view.key,
      shared: false,
    }).send()
  }

  /** Asks the origin while a stale response is served: once for each stored response, however many are served. */
  #refresh(view: RequestView, found: CacheGetResult, foundKey: CacheKey): void {
    const id = `${foundKey.method} ${urlOf(foundKey)} ${varyText(found.vary)}`
    if (this.#refreshing.has(id)) return
    this.#refreshing.add(id)
    const done = (): void => {
      this.#refreshing.delete(id)
    }
    const caller = new Caller({ ...SILENT, onResponseEnd: done, onResponseError: done })
    const silent: RequestView = { ...view, opts: { ...view.opts, body: null }, control: {} }
    // The stored body may be a stream, which the caller reads: it is looked up again.
    const again = this.access.get(foundKey, Date.now())
    const send = (entry: Found): void => {
      const plan = {
        view: silent,
        reason: 'stale',
        entry: entry ?? null,
        entryKey: foundKey,
        shared: false,
      } as const
      new Exchange(this, caller, plan).send()
    }
    if (again instanceof Promise) void again.then(send)
    else send(again)
  }

  onResponse(view: RequestView, response: OriginHead | null, context: unknown): void {
    const { origin, method, path } = view.key
    if (origin === '' || isSafe(method)) return
    const requested = requestedUrls(context)
    for (const changed of invalidatedPaths(
      sentOrigin(origin),
      targetOrigin(origin),
      path,
      requested,
      response,
    ))
      this.#invalidate({ origin, method: 'GET', path: changed })
  }

  #invalidate(key: CacheKey): void {
    for (const exchange of this.inFlight.of(key)) {
      exchange.invalidate()
      this.flights.end(exchange, false, Date.now())
    }
    this.access.delete(key)
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** The request is answered without it. */
function dropBody({ opts: { body } }: RequestView): void {
  if (isStream(body)) destroyStream(body, null)
}
