/**
 * The caller's `trailers`: fields that follow the body of a request, given beforehand or by a function that is
 * called when the body has ended.
 */
import { InvalidArgumentError } from '../errors.ts'
import { lowerCaseName } from '../protocol/header-names.ts'
import { RequestFields } from './request-fields.ts'

/** Sent after the body: name, value, name, value …, or the function that returns it. */
export type TrailersSource = readonly string[] | (() => unknown)

/**
 * RFC 9110 §6.5.1: fields that frame or route a message, authenticate its sender, change how it is processed, or how its
 * content is read. They would come too late, or, merged into the head by an intermediary, smuggle.
 */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'authorization',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'host',
  'http2-settings',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'keep-alive',
  'max-forwards',
  'pragma',
  'proxy-authorization',
  'proxy-connection',
  'range',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

class TrailerFields extends RequestFields {
  override add(name: unknown, value: unknown): void {
    if (value === undefined) return
    if (typeof name !== 'string' || name.startsWith(':')) {
      throw new InvalidArgumentError('invalid trailer key')
    }
    if (FORBIDDEN.has(lowerCaseName(name))) {
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
  let fields: readonly string[]
  try {
    const given = source()
    if (isPromise(given)) {
      Promise.resolve(given).then(checkTrailers).then(done).catch(fail)
      return
    }
    fields = checkTrailers(given)
  } catch (error) {
    fail(error)
    return
  }
  done(fields)
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as Promise<unknown> | null | undefined)?.then === 'function'
}

/** What the `trailer` field of the head says (RFC 9110 §6.6.2), or null when that is not known yet. */
export function announcedTrailers(source: TrailersSource): string | null {
  if (typeof source === 'function') return null
  return [...new Set(source.filter((_, i) => i % 2 === 0))].join(', ')
}
