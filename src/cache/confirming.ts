/** Brings a stored response up to date after the origin has confirmed it (RFC 9111 §4.3.4). */
import type { BodyReader, BodyWaiter } from '../relay/body-log.ts'
import type { CacheHost, Plan } from './cache-host.ts'
import { entryOf, mergedHeaders } from './rules/entry.ts'
import type { ResponseFacts } from './rules/freshness.ts'
import { storingRefusal } from './rules/storability.ts'
import { controlOf } from './rules/targeted-control.ts'
import type { CacheValue } from './store/cache-store.ts'
import { StoredStream } from './store/stored-stream.ts'
import { type Storing, storeWhole } from './store/storing.ts'

export interface Confirmed {
  readonly value: CacheValue
  /** What the store still needs: `body` if the response has to be written again, with its body. */
  readonly left: 'nothing' | 'body'
}

/** The stored response of a plan after a 304 or a HEAD. The store gets it as well if it may. */
export function confirmed(host: CacheHost, plan: Plan, answer: ResponseFacts, mayStore: boolean): Confirmed {
  const { access, settings } = host
  const { entry, entryKey: key, view } = plan
  const { statusCode, statusMessage: statusText, vary, body } = entry!
  const { requestTime, responseTime } = answer
  const headers = mergedHeaders(entry!.headers, answer)
  const control = controlOf(headers, settings.targets)
  const facts = { statusCode, headers, statusText, ...control, requestTime, responseTime }
  const value = entryOf(facts, view.headers, settings)
  if (vary !== undefined) value.vary = vary
  if (!mayStore) return { value, left: 'nothing' }
  // What was stored for other users is still theirs: this request only has more credentials.
  if (storingRefusal(facts, { headers: {}, control: {} }, settings) !== null) access.delete(key)
  else if (access.canUpdate) access.update(key, value, entry!)
  else if (body instanceof StoredStream) return { value, left: 'body' }
  else storeWhole(access, key, value, body)
  return { value, left: 'nothing' }
}

/** Stores a body again while it is read. */
export class RewritingReader implements BodyReader {
  readonly #reader: BodyReader
  readonly #storing: Storing
  readonly #onClosed: () => void

  constructor(reader: BodyReader, storing: Storing, onClosed: () => void) {
    this.#reader = reader
    this.#storing = storing
    this.#onClosed = onClosed
  }

  read(waiter: BodyWaiter): Buffer | null | undefined {
    const chunk = this.#reader.read(waiter)
    if (chunk === null) this.#storing.finish(false)
    else if (chunk !== undefined) this.#storing.write(chunk)
    return chunk
  }

  close(): void {
    this.#storing.abandon()
    this.#onClosed()
    this.#reader.close()
  }
}
