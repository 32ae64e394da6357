/**
 * What a caller asked for with one `dispatch()` call, checked. Nothing here changes; what becomes of it stands in
 * request.ts.
 */
import { serverNameOf } from '../base/server-name.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { HeaderList } from '../protocol/header-list.ts'
import { lowerCaseName } from '../protocol/header-names.ts'
import { type BodySource, classifyBody, destroyStream, givenBody, isStream } from './body-source.ts'
import { checkHandler, type DispatchHandler } from './dispatch-handler.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import type { FieldsMemory } from './fields-memory.ts'
import { type RareOptions, readRareOptions } from './rare-options.ts'
import type { RequestFields } from './request-fields.ts'
import { checkMethod, checkPath, isIdempotent, withQuery } from './request-options.ts'
import type { TrailersSource } from './request-trailers.ts'

/** What is the same for all requests of a client. */
export interface RequestSetting {
  readonly origin: string
  readonly protocol: string
  readonly fields: FieldsMemory
  /** Most bytes of a response body; negative for any number. */
  readonly maxResponseSize: number
}

/** Whether it may be sent again, and whether others wait for its response head. */
type Conduct = 0 | 1 | 2 | 3
const IDEMPOTENT = 1
const BLOCKING = 2

export class RequestTerms {
  readonly method: string
  readonly path: string
  /** The body, classified. */
  readonly source: BodySource
  readonly #setting: RequestSetting
  readonly #fields: RequestFields
  readonly #rare: RareOptions
  readonly #conduct: Conduct

  constructor(options: DispatchOptions, handler: DispatchHandler, setting: RequestSetting) {
    try {
      const path = checkPath(options.path, options.method)
      this.#setting = setting
      this.method = checkMethod(options.method)
      this.#rare = readRareOptions(options)
      const source = classifyBody(options.body)
      if (source === null) {
        throw new InvalidArgumentError(
          'body must be a string, a Buffer, a Readable stream, an iterable, or an async iterable',
        )
      }
      this.source = source
      this.path = withQuery(path, options.query)
      const idempotent = isIdempotent(this.method, options.idempotent) ? IDEMPOTENT : 0
      const blocking = (options.blocking ?? idempotent === 0) ? BLOCKING : 0
      this.#conduct = (idempotent | blocking) as Conduct
      this.#fields = setting.fields.read(options.headers)
      checkHandler(handler, this.takesOver)
    } catch (error) {
      if (isStream(options.body)) destroyStream(options.body, error as Error)
      throw error
    }
  }

  get origin(): string {
    return this.#setting.origin
  }

  get maxResponseSize(): number {
    return this.#setting.maxResponseSize
  }

  get protocol(): string {
    return this.#setting.protocol
  }

  get upgrade(): string | null {
    return this.#rare.upgrade
  }

  get headersTimeout(): number | null {
    return this.#rare.headersTimeout
  }

  get bodyTimeout(): number | null {
    return this.#rare.bodyTimeout
  }

  get reset(): boolean | null {
    return this.#fields.close ? true : this.#rare.reset
  }

  get expectContinue(): boolean {
    return this.#rare.expectContinue
  }

  get typeOfService(): number | undefined {
    return this.#rare.typeOfService
  }

  /** Sent behind the body. */
  get trailers(): TrailersSource | null {
    return this.#rare.trailers
  }

  /** The caller has a `trailer` header of his own. */
  get namesTrailers(): boolean {
    const { flat } = this.#fields.list
    return flat.some((name, i) => i % 2 === 0 && lowerCaseName(name as string) === 'trailer')
  }

  get servername(): string | null {
    const { host } = this.#fields
    return this.#rare.servername ?? ((host === null ? null : serverNameOf(host)) || null)
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
    return givenBody(this.source)
  }

  get idempotent(): boolean {
    return (this.#conduct & IDEMPOTENT) !== 0
  }

  get blocking(): boolean {
    return (this.#conduct & BLOCKING) !== 0
  }

  /** CONNECT and upgrades end HTTP on their connection. */
  get takesOver(): boolean {
    return this.upgrade !== null || this.method === 'CONNECT'
  }

  /** As the caller gave them, without those that steer the request; not to be changed. */
  protected get fields(): HeaderList {
    return this.#fields.list
  }
}
