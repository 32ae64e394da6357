/** The cache of one dispatcher: looks responses up, serves them, and sends what it cannot answer. */
import { ignoreRejection } from '../base/loop/stray-promise.ts'
import { InvalidArgumentError } from '../errors.ts'
import { Downstream } from '../relay/downstream.ts'
import { hasAny } from '../relay/fields.ts'
import { HeldCall } from '../relay/held-call.ts'
import { originOf } from '../relay/origin-key.ts'
import { isComplete, refuse } from '../relay/refusal.ts'
import { replayOf } from '../relay/replay.ts'
import { withReadableHeaders } from '../relay/request-headers.ts'
import { type RequestView, viewPassing, viewRequest } from '../relay/request-view.ts'
import { watcherOf, withWatcher } from '../relay/request-watcher.ts'
import { NO_FACTS, type ResponseFacts, requestedUrls } from '../relay/response-facts.ts'
import { withPartition } from '../relay/target-uri.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { isCall } from '../request/dispatching.ts'
import type { Below, CacheHost } from './cache-host.ts'
import { Exchange } from './exchange.ts'
import { Exchanges } from './exchanges.ts'
import { HiddenFields } from './hidden-fields.ts'
import { type CacheSettings, isListed } from './options.ts'
import { Presenter } from './presenter.ts'
import { type ForwardReason, type Handling, ttlOf } from './rules/cache-status.ts'
import { invalidatedPaths, type OriginHead, SAFE_METHODS } from './rules/invalidation.ts'
import { serviceOf } from './rules/serving-rules.ts'
import { namesHidden, varyText } from './rules/vary.ts'
import type { CacheKey } from './store/cache-store.ts'
import { discardBody, type Found } from './store/found.ts'
import type { StoreAccess } from './store/store-access.ts'
import { urlOf } from './store/store-arguments.ts'

const STORED: ResponseFacts = { ...NO_FACTS, isStored: true }

/** A request of a caller. */
type Asked = { readonly view: RequestView; readonly downstream: Downstream }

export class CacheLayer implements CacheHost {
  readonly settings: CacheSettings
  readonly access: StoreAccess
  readonly below: Below
  readonly presenter: Presenter
  readonly exchanges: Exchanges = new Exchanges()
  /** Not of the settings: another composition has other layers below. */
  readonly hidden: HiddenFields = new HiddenFields()
  /** The stored responses that a background request is bringing up to date. */
  readonly #refreshing = new Set<string>()

  constructor(settings: CacheSettings, access: StoreAccess, below: Below) {
    this.settings = settings
    this.access = access
    this.below = below
    this.presenter = new Presenter(settings.cacheStatus, below.held)
  }

  handle(opts: DispatchOptions, handler: DispatchHandler): boolean {
    const { dispatch, life } = this.below
    if (life() !== 'open' || !isCall(opts, handler) || !isComplete(handler)) return dispatch(opts, handler)
    const { method } = opts
    if (typeof method !== 'string' || opts.upgrade || method === 'CONNECT') return dispatch(opts, handler)
    const origin = this.#originOf(opts)
    // A jar adds its cookies further inside, where the key does not see them.
    const hasJar = typeof opts.cookies === 'object' && opts.cookies !== null
    if (origin === null || hasJar) return this.#pass(opts, handler)
    const isStorable = this.settings.methods.has(method)
    if (!isStorable && SAFE_METHODS.has(method)) return this.#pass(opts, handler)
    let request: DispatchOptions
    let view: RequestView | null
    try {
      // The dispatcher reads what the cache cannot.
      request = withReadableHeaders(opts)
      view = viewRequest(request, origin, isStorable)
      if (view !== null) this.#addPartition(view.key, request)
    } catch (error) {
      return refuse(opts, handler, error)
    }
    if (view === null) return dispatch(request, handler)
    const asked = { view, downstream: new Downstream(handler, true) }
    if (!isStorable) return this.#forward(asked, undefined, view.key, 'method')
    if (view.control['no-store'] === true) return this.#pass(view.opts, handler)
    // A response to GET answers HEAD as well (RFC 9111 §4).
    return this.#lookUp(asked, method === 'HEAD' ? { ...view.key, method: 'GET' } : view.key)
  }

  /** Null if the cache does not handle the request: it has no origin, or one that is not listed. */
  #originOf(opts: DispatchOptions): string | null {
    if (this.below.origin === null) return null
    const origin = originOf(opts, this.below.origin)
    return origin !== null && isListed(origin, this.settings.origins) ? origin : null
  }

  #addPartition(key: CacheKey, opts: DispatchOptions): void {
    if (this.settings.partition === null) return
    const partition = this.settings.partition(opts)
    ignoreRejection(partition)
    if (typeof partition !== 'string') throw new InvalidArgumentError('partition must return a string')
    key.origin = withPartition(key.origin, partition)
  }

  #pass(opts: DispatchOptions, handler: DispatchHandler): boolean {
    if (this.settings.cacheStatus === null) return this.below.dispatch(opts, handler)
    const view = viewPassing(opts)
    return this.#forward({ view, downstream: new Downstream(handler, true) }, undefined, view.key, 'bypass')
  }

  #lookUp(asked: Asked, key: CacheKey): boolean {
    const { view, downstream } = asked
    const found = this.access.get(key, Date.now())
    if (!(found instanceof Promise)) return this.#respond(asked, found, key)
    const held = new HeldCall(view.opts, downstream, this.below.held)
    downstream.announce()
    void found.then((answer) => {
      if (!held.release()) discardBody(answer?.body)
      // Outside of any call that could report what is thrown.
      else downstream.contain(() => void this.#respond(asked, answer, key))
    })
    return true
  }

  #respond(asked: Asked, stored: Found | undefined, foundKey: CacheKey): boolean {
    const { view, downstream } = asked
    if (stored === undefined && foundKey.method !== view.key.method) return this.#lookUp(asked, view.key)
    const found = this.#selected(stored, foundKey.origin)
    const onlyIfCached = view.control['only-if-cached'] === true
    const now = Date.now()
    // These ask the origin about its current state, which no stored response knows.
    if (found !== undefined && hasAny(view.headers, ['if-match', 'if-unmodified-since'])) {
      discardBody(found.body)
      return this.#forward(asked, undefined, foundKey, 'request')
    }
    const service = found === undefined ? 'miss' : serviceOf(found, view, this.settings.type)
    if (found === undefined || service === 'miss' || service === 'revalidate' || service === 'request') {
      const reason = service === 'revalidate' ? 'stale' : (service as ForwardReason)
      if (!onlyIfCached) return this.#forward(asked, found, foundKey, reason)
      discardBody(found?.body)
      destroyBodyOf(view.opts, null)
      watcherOf(view.opts)?.onCacheResult('miss')
      this.presenter.refuse(view, downstream, { kind: 'forwarded', reason }).startLater()
      return true
    }
    const isStale = service === 'while-revalidating'
    const handling: Handling = { kind: 'hit', ttl: ttlOf(found, now) }
    watcherOf(view.opts)?.onCacheResult(isStale ? 'stale' : 'hit')
    const serving = this.presenter.present(view, downstream, found, { handling, facts: STORED, isStale })
    destroyBodyOf(view.opts, null)
    serving.startLater()
    if (isStale) this.#refresh(view, found, foundKey)
    return true
  }

  /** Nothing if it was selected by values that the request will not be sent with. */
  #selected(found: Found | undefined, origin: string): Found | undefined {
    if (!found?.vary || !namesHidden(Object.keys(found.vary), this.hidden.of(origin))) return found
    discardBody(found.body)
    return undefined
  }

  #forward(asked: Asked, found: Found | undefined, entryKey: CacheKey, reason: ForwardReason): boolean {
    const { view, downstream } = asked
    let entry = found ?? null
    // A body that can be read once must not be spent on a conditional request.
    if (entry !== null && replayOf(view.opts.body) !== 'always') {
      discardBody(entry.body)
      entry = null
    }
    const sharedId = this.settings.collapse && view.storable ? this.exchanges.idOf(view) : null
    const others = sharedId === null ? [] : this.exchanges.of(view.key)
    if (others.some((exchange) => exchange.join(downstream, view, sharedId!))) {
      discardBody(entry?.body)
      return true
    }
    return new Exchange(this, downstream, { view, reason, entry, entryKey, sharedId }).send()
  }

  forwardAlone(view: RequestView, downstream: Downstream): void {
    const plan = { view, reason: 'miss', entry: null, entryKey: view.key, sharedId: null } as const
    new Exchange(this, downstream, plan).send()
  }

  /**
   * Asks the origin while a stale response is served: once for each stored response, however many are served.
   */
  #refresh(view: RequestView, found: Found, entryKey: CacheKey): void {
    const id = `${entryKey.method} ${urlOf(entryKey)} ${varyText(found.vary)}`
    if (this.#refreshing.has(id)) return
    this.#refreshing.add(id)
    const done = (): void => {
      this.#refreshing.delete(id)
    }
    const downstream = new Downstream({ onResponseEnd: done, onResponseError: done })
    // Its caller has an answer, and it is none of what becomes of that.
    const opts = withWatcher({ ...view.opts, body: null }, null)
    const silent: RequestView = { ...view, opts, control: {} }
    const send = (entry: Found | null = null): void => {
      const plan = { view: silent, reason: 'stale', entry, entryKey, sharedId: null, isSilent: true } as const
      new Exchange(this, downstream, plan).send()
    }
    // The stored body may be a stream, which the caller reads: it is looked up again.
    const again = this.access.get(entryKey, Date.now())
    if (again instanceof Promise) void again.then(send)
    else send(again)
  }

  onResponse({ key }: RequestView, response: OriginHead | null, context: unknown): void {
    if (key.origin === '' || SAFE_METHODS.has(key.method)) return
    for (const path of invalidatedPaths(key, requestedUrls(context), response)) {
      const changed = { origin: key.origin, method: 'GET', path }
      for (const exchange of this.exchanges.of(changed)) exchange.invalidate()
      this.access.delete(changed)
    }
  }
}
