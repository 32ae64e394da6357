/**
 * The caller's `trailers`: fields that follow the body of a request, given beforehand or by a function that
 * is called when the body has ended.
 */

import { isThenable, whenReady } from '../base/loop/thenable.ts'
import { InvalidArgumentError } from '../errors.ts'
import { isForbiddenTrailer } from '../protocol/trailer-names.ts'
import { RequestFields } from './request-fields.ts'

/** Sent after the body: name, value, name, value …, or the function that returns it. */
export type TrailersSource = readonly string[] | (() => unknown)

class TrailerFields extends RequestFields {
  override add(name: unknown, value: unknown): void {
    if (value === undefined) return
    if (typeof name !== 'string' || name.startsWith(':')) {
      throw new InvalidArgumentError('invalid trailer key')
    }
    if (isForbiddenTrailer(name)) {
      throw new InvalidArgumentError(`${name} is not allowed in trailers`)
    }
    super.add(name, value)
  }
}

/** Null when there are none to send. Throws for what must not be sent. */
export function readTrailers(given: unknown): TrailersSource | null {
  if (typeof given === 'function') return given as () => unknown
  const fields = checkTrailers(given)
  return fields.length === 0 ? null : fields
}

function checkTrailers(given: unknown): readonly string[] {
  const fields = new TrailerFields()
  fields.addAll(given)
  const flat: string[] = []
  const { list } = fields
  for (let i = 0; i < list.flat.length; i += 2) {
    const value = list.flat[i + 1]!
    // Names stand at even places and are never arrays.
    for (const item of typeof value === 'string' ? [value] : value) flat.push(list.flat[i] as string, item)
  }
  return flat
}

/** Calls back once: at once where the fields are there, later where they are promised. */
export function gatherTrailers(
  source: TrailersSource,
  done: (fields: readonly string[]) => void,
  fail: (error: unknown) => void,
): void {
  if (typeof source !== 'function') {
    done(source)
    return
  }
  let fields: readonly string[] | Promise<readonly string[]>
  try {
    fields = whenReady(source(), checkTrailers)
  } catch (error) {
    fail(error)
    return
  }
  if (isThenable(fields)) fields.then(done).catch(fail)
  else done(fields)
}

/** What the `trailer` field of the head says (RFC 9110 §6.6.2), or null when that is not known yet. */
export function announcedTrailers(source: TrailersSource): string | null {
  if (typeof source === 'function') return null
  return [...new Set(source.filter((_, i) => i % 2 === 0))].join(', ')
}
