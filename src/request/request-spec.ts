/**
 * What a caller asked for with one `dispatch()` call, checked. Only a diagnostics subscriber can change it
 * afterwards, and only the header fields. What becomes of the request is in request.ts.
 */
import { serverNameOf } from '../base/address/server-name.ts'
import type { FieldValue, HeaderList } from '../protocol/header-list.ts'
import { lowerCaseName } from '../protocol/header-names.ts'
import { type BodySource, classifyBody, destroyStream, isStream, notABody } from './body-source.ts'
import { checkMethod, checkPath, isIdempotent, withQuery } from './check-options.ts'
import { checkHandler, type DispatchHandler } from './dispatch-handler.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import { type FieldsMemory, RequestFields } from './request-fields.ts'
import { type RequestOverrides, readOverrides } from './request-overrides.ts'
import type { TrailersSource } from './request-trailers.ts'

/** What is the same for all requests of a client or a pool. */
export interface RequestContext {
  readonly origin: string
  readonly protocol: string
  readonly fields: FieldsMemory
  /** Most bytes of a response body; negative for any number. */
  readonly maxResponseSize: number
}

export class RequestSpec {
  readonly method: string
  readonly path: string
  /** The body, classified. */
  readonly source: BodySource
  readonly #context: RequestContext
  readonly #fields: RequestFields
  readonly #overrides: RequestOverrides
  /** It may be sent again. */
  readonly idempotent: boolean
  /** Others wait for its response head. */
  readonly blocking: boolean
  /** What a subscriber of a diagnostics channel was given as `headers`, and may have changed. */
  #headers: FieldValue[] | null = null

  constructor(options: DispatchOptions, handler: DispatchHandler, context: RequestContext) {
    try {
      const path = checkPath(options.path, options.method)
      this.#context = context
      this.method = checkMethod(options.method)
      this.#overrides = readOverrides(options)
      const source = classifyBody(options.body)
      if (source === null) throw notABody(options.body)
      this.source = source
      this.path = withQuery(path, options.query)
      this.idempotent = isIdempotent(this.method, options.idempotent)
      this.blocking = Boolean(options.blocking ?? !this.idempotent)
      this.#fields = context.fields.read(options.headers)
      checkHandler(handler, this.takesOver)
    } catch (error) {
      if (isStream(options.body)) destroyStream(options.body, error as Error)
      throw error
    }
  }

  get origin(): string {
    return this.#overrides.replacedOrigin ?? this.#context.origin
  }

  get maxResponseSize(): number {
    return this.#context.maxResponseSize
  }

  get protocol(): string {
    return this.#context.protocol
  }

  get upgrade(): string | null {
    return this.#overrides.upgrade
  }

  get headersTimeout(): number | null {
    return this.#overrides.headersTimeout
  }

  get bodyTimeout(): number | null {
    return this.#overrides.bodyTimeout
  }

  get requestBodyTimeout(): number | null {
    return this.#overrides.requestBodyTimeout
  }

  get reset(): boolean | null {
    return this.#fields.close ? true : this.#overrides.reset
  }

  get expectContinue(): boolean {
    return this.#overrides.expectContinue
  }

  get expectContinueTimeout(): number | null {
    return this.#overrides.expectContinueTimeout
  }

  get typeOfService(): number | undefined {
    return this.#overrides.typeOfService
  }

  /** Sent after the body. */
  get trailers(): TrailersSource | null {
    return this.#overrides.trailers
  }

  /** The caller's headers name the trailers already. */
  get namesTrailers(): boolean {
    const { flat } = this.#fields.list
    return flat.some((name, i) => i % 2 === 0 && lowerCaseName(name as string) === 'trailer')
  }

  get servername(): string | null {
    const { host } = this.#fields
    return this.#overrides.servername ?? ((host === null ? null : serverNameOf(host)) || null)
  }

  get host(): string | null {
    return this.#fields.host
  }

  get contentLength(): number | null {
    return this.#fields.contentLength
  }

  get contentType(): string | null {
    return this.#fields.contentType
  }

  /** Bytes for a string, otherwise what the caller gave; null for none. */
  get body(): unknown {
    return this.source.given
  }

  /** CONNECT and upgrades end HTTP on their connection. */
  get takesOver(): boolean {
    return this.upgrade !== null || this.method === 'CONNECT'
  }

  /** For instrumentations. Live: what is in here when the request is written goes to the wire. */
  get headers(): FieldValue[] {
    // A copy: other requests may have the same list.
    this.#headers ??= [...this.#fields.list.flat]
    return this.#headers
  }

  set headers(headers: FieldValue[]) {
    this.#headers = headers
  }

  /** For instrumentations: checked like the headers of `dispatch()`. */
  addHeader(name: string, value: unknown): this {
    const fields = new RequestFields()
    fields.add(name, value)
    this.headers.push(...fields.list.flat)
    return this
  }

  /** The fields to send, or null when a subscriber left something illegal in `headers`. */
  wireFields(): HeaderList | null {
    if (this.#headers === null) return this.#fields.list
    const fields = new RequestFields()
    try {
      fields.addAll(this.#headers)
    } catch {
      return null
    }
    return fields.list
  }
}
