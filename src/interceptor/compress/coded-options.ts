/** Which request bodies are compressed, and the options of the request that sends one compressed. */
import { Readable } from 'node:stream'
import { encodeAll, openEncoder } from '../../content-coding/encoders.ts'
import { replayOf } from '../../relay/replay.ts'
import { hasHeader, headerValues, type Replacements, withHeaders } from '../../relay/request-headers.ts'
import { type BodySource, classifyBody } from '../../request/body-source.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { CompressedBody } from './compressed-body.ts'
import type { CompressSettings } from './options.ts'

/** Encoding more than this in one call would block the event loop for milliseconds. */
const MAX_WHOLE_BYTES = 65_536

/** Whose values are about the body as it is given: its coding, its digest, its part of a whole. */
const BOUND_FIELDS = [
  'content-encoding',
  'content-range',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
]

/** Compressed already, with a compression of its own, or made of parts that may be. */
const COMPRESSED_TYPES =
  /^(?:image\/(?!svg\+xml|bmp)|audio\/|video\/|font\/woff|multipart\/|application\/(?:(?:x-)?(?:gzip|bzip2?|xz|zip|7z|rar|zstd)|zip|pdf|vnd\.rar|java-archive|grpc|vnd\.openxmlformats|[^;]*\+zip)(?![a-z]))/i

/** Null for a request that is sent as it is. Throws for headers or a body that a dispatcher refuses. */
export function codedOptions(opts: DispatchOptions, settings: CompressSettings): DispatchOptions | null {
  const { headers } = opts
  const source = classifyBody(opts.body)
  if (source === null || source.kind === 'none' || source.kind === 'form') return null
  if (BOUND_FIELDS.some((name) => hasHeader(headers, name))) return null
  const [type = source.kind === 'blob' ? source.given.type : ''] = headerValues(headers, 'content-type')
  if (COMPRESSED_TYPES.test(type.trim())) return null
  const [length] = headerValues(headers, 'content-length')
  const size = sizeOf(source, length)
  // One that contradicts its length is for the dispatcher to refuse.
  if (Number.isNaN(size) || (size !== null && size < settings.minSize)) return null
  const body = codedBody(source, settings)
  if (body === null) return null
  const fields: Replacements = { 'content-encoding': settings.coding, 'content-length': null }
  const typed = source.kind === 'blob' && type !== '' ? { ...fields, 'content-type': type } : fields
  return { ...opts, body, headers: withHeaders(headers, typed) }
}

/** Null if it is not known; NaN if it is not what the header says. */
function sizeOf(source: BodySource, header: string | undefined): number | null {
  const announced = header === undefined ? null : Number(header)
  const known =
    source.kind === 'bytes' ? source.byteLength : source.kind === 'blob' ? source.given.size : announced
  return announced === null || announced === known ? known : Number.NaN
}

/** Null if it does not get smaller, or if it is a stream of a kind that has no backpressure. */
function codedBody(source: BodySource, { coding, level }: CompressSettings): DispatchOptions['body'] | null {
  const open = () => openEncoder(coding, level)
  if (source.kind === 'bytes') {
    const { bytes } = source
    if (bytes.byteLength > MAX_WHOLE_BYTES) return anew(() => new CompressedBody([bytes], open))
    const coded = encodeAll(coding, level, bytes)
    return coded.byteLength < bytes.byteLength ? coded : null
  }
  const given = source.given
  if (source.kind === 'blob') return anew(() => new CompressedBody(source.given.stream(), open))
  if (source.kind === 'stream') return given instanceof Readable ? new CompressedBody(given, open) : null
  const pieces = given as Iterable<unknown>
  const make = () => new CompressedBody(pieces, open)
  return replayOf(pieces) === 'always' ? anew(make) : make()
}

/** A body that every attempt reads from its beginning. */
function anew(make: () => Readable): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => make()[Symbol.asyncIterator]() }
}
