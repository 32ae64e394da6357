/** Brings a stored response up to date after the origin has confirmed it (RFC 9111 §4.3.4). */
import type { BodyReader } from '../relay/body-log.ts'
import type { CacheHost, Plan } from './cache-host.ts'
import { entryOf, mergedHeaders } from './rules/entry.ts'
import type { ResponseFacts } from './rules/freshness.ts'
import { storingRefusal } from './rules/storability.ts'
import { controlOf } from './rules/targeted-control.ts'
import type { CacheValue } from './store/cache-store.ts'
import { StoredStream } from './store/stored-stream.ts'
import type { Storing } from './store/storing.ts'

/** `lacksBody`: the store has to get the response again, with its body. */
type Confirmed = { readonly value: CacheValue; readonly lacksBody: boolean }

/** The stored response of a plan after a 304 or a HEAD. The store gets it as well if it may. */
export function confirmed(host: CacheHost, plan: Plan, answer: ResponseFacts, mayStore: boolean): Confirmed {
  const { access, settings, hidden } = host
  const { entry, entryKey: key, view } = plan
  const { statusCode, statusMessage: statusText, vary, body } = entry!
  const { requestTime, responseTime } = answer
  const headers = mergedHeaders(entry!.headers, answer)
  const control = controlOf(headers, settings.targets)
  const facts = { statusCode, headers, statusText, ...control, requestTime, responseTime }
  const value = entryOf(facts, view.headers, settings)
  if (vary !== undefined) value.vary = vary
  if (!mayStore) return { value, lacksBody: false }
  // What was stored for other users is still theirs: this request only has more credentials.
  const nobody = { headers: {}, control: {} }
  if (storingRefusal(facts, nobody, settings, hidden.of(key.origin)) !== null) access.delete(key)
  else if (access.canUpdate) access.update(key, value, entry!)
  else if (body instanceof StoredStream) return { value, lacksBody: true }
  else access.store(key, { ...value, body })
  return { value, lacksBody: false }
}

/** Stores a body again while it is read. */
export function rewriting(reader: BodyReader, storing: Storing, onClosed: () => void): BodyReader {
  return {
    read(waiter) {
      const chunk = reader.read(waiter)
      if (chunk === null) storing.finish(false)
      else if (chunk !== undefined) storing.write(chunk)
      return chunk
    },
    close() {
      storing.abandon()
      onClosed()
      reader.close()
    },
  }
}
