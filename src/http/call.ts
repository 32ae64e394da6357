/**
 * What a method of the client returns: the request is under way, and how it is asked for decides what becomes
 * of the response. It begins a microtask after the call, when it is known whether the whole body is wanted.
 */
import type { BodyReadable } from '../body/readable.ts'
import type { CallRun } from './call-run.ts'
import type { Form } from './consumer.ts'
import { type HttpResponse, unread } from './response.ts'
import { checkSchema, type StandardSchema } from './standard-schema.ts'

const RESOLVED = Promise.resolve()

/**
 * A request that is under way. `json()`, `text()` and `bytes()` get the whole body, `stream()` a stream; to
 * await the call itself is the same as `response()`.
 */
export class HttpCall implements Promise<HttpResponse> {
  readonly #run: CallRun
  #response: Promise<HttpResponse> | null = null

  /** @internal */
  constructor(run: CallRun) {
    this.#run = run
    void RESOLVED.then(() => {
      if (!run.isAsked) giveUpWith(this, run)
      run.begin()
    })
  }

  /** The body, parsed, and checked if there is a schema. Undefined for a 204, a 205, and for HEAD. */
  json<T = unknown>(): Promise<T>
  json<T>(schema: StandardSchema<T>): Promise<T>
  json(schema?: StandardSchema): Promise<unknown> {
    checkSchema(schema)
    return this.#collect('json', schema) ?? this.response().then((response) => response.json(schema!))
  }

  /** The body as UTF-8. */
  text(): Promise<string> {
    return this.#collect('text') ?? this.response().then((response) => response.text())
  }

  /** The body in memory that is not shared. */
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#collect('bytes') ?? this.response().then((response) => response.bytes())
  }

  #collect<T>(form: Form, schema?: StandardSchema): Promise<T> | null {
    return this.#run.canCollect ? (this.#run.collect(form, schema) as Promise<T>) : null
  }

  /** The body as a stream, which must be read or destroyed. */
  stream(): Promise<BodyReadable> {
    return this.response().then((response) => response.body)
  }

  /** The response, as soon as its head has come. */
  response(): Promise<HttpResponse> {
    this.#response ??= this.#run.respond()
    return this.#response
  }

  /** As of a promise of the response. */
  // biome-ignore lint/suspicious/noThenProperty: a call is awaited for its response
  then<A = HttpResponse, B = never>(
    onResponse?: ((response: HttpResponse) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.response().then(onResponse, onError)
  }

  /** As of a promise of the response. */
  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<HttpResponse | B> {
    return this.response().catch(onError)
  }

  /** As of a promise of the response. */
  finally(onSettled?: (() => void) | null): Promise<HttpResponse> {
    return this.response().finally(onSettled)
  }

  get [Symbol.toStringTag](): string {
    return 'HttpCall'
  }
}

/**
 * A call that nobody asks for anything is made all the same, but does not hold its connection once it is
 * collected. Outside of the class, so that the function does not hold the call.
 */
function giveUpWith(call: HttpCall, run: CallRun): void {
  unread.register(call, () => run.lose())
}
