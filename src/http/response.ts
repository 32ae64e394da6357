/** The response of a call whose body is still to be read. */
import type { BodyReadable } from '../body/readable.ts'
import type { Timings } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { type Answered, notJson, responseError } from './failure.ts'
import { checkSchema, type StandardSchema, shownIssues } from './standard-schema.ts'

/** A caller may drop a call or a response: its connection must not wait for a reader that never comes. */
export const unread: FinalizationRegistry<() => void> = new FinalizationRegistry((giveUp) => giveUp())

/** A response: its head, and the ways to read its body, of which one can be used, once. */
export class HttpResponse {
  /** From 200 to 299, unless `throwOnError` is false. */
  readonly statusCode: number
  /** By lower-case name. */
  readonly headers: HeaderObject
  /** After all redirects. */
  readonly url: string
  /** When each step happened; null from other dispatchers. */
  readonly timings: Timings | null
  readonly #answered: Answered
  readonly #body: BodyReadable

  /** @internal */
  constructor(answered: Answered, body: BodyReadable, timings: Timings | null, giveUp: () => void) {
    this.statusCode = answered.statusCode
    this.headers = answered.headers
    this.url = answered.url
    this.timings = timings
    this.#answered = answered
    this.#body = body
    unread.register(this, giveUp, body)
  }

  /** The body as a stream. It must be read, dumped or destroyed. */
  get body(): BodyReadable {
    unread.unregister(this.#body)
    return this.#body
  }

  /** The body, parsed, and checked if there is a schema. */
  json<T = unknown>(): Promise<T>
  json<T>(schema: StandardSchema<T>): Promise<T>
  json(schema?: StandardSchema): Promise<unknown> {
    checkSchema(schema)
    return this.text().then((text) => jsonOf(text, this.#answered, schema))
  }

  /** The body as UTF-8. */
  text(): Promise<string> {
    return this.body.text()
  }

  /** The body in memory that is not shared. */
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.body.bytes()
  }
}

/** Undefined for a response that has no body by its nature (RFC 9110 §15.3.5, §15.3.6, §9.3.2). */
export function jsonOf(text: string, answered: Answered, schema?: StandardSchema): unknown {
  const { statusCode, method } = answered
  const isEmpty = text === '' && (statusCode === 204 || statusCode === 205 || method === 'HEAD')
  let value: unknown
  try {
    value = isEmpty ? undefined : JSON.parse(text)
  } catch (cause) {
    throw notJson(answered, text, cause)
  }
  return schema === undefined ? value : validated(value, answered, schema)
}

async function validated(value: unknown, answered: Answered, schema: StandardSchema): Promise<unknown> {
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return result.value
  const { issues } = result
  const what = ` with what does not fit the schema: ${shownIssues(issues)}`
  throw Object.assign(responseError(answered, what, { body: value, bodyTruncated: false }), { issues })
}
