/** The members that `Request` and `Response` share for reading a body. */
import { File } from 'node:buffer'
import type { ReadableStream } from 'node:stream/web'
import type { BodyBytes } from '../../base/bytes/body-bytes.ts'
import { loadWebStreams } from '../../base/node/lazy-modules.ts'
import {
  type Conversion,
  type Describe,
  toArrayBuffer,
  toBlob,
  toBytes,
  toJson,
  toText,
} from '../../body/collect.ts'
import { describeContent } from '../../body/content-error.ts'
import { defineMembers } from '../../web/interface.ts'
import type { BodyMembers } from '../declared-classes.ts'
import { decodeMultipart, decodeUrlEncoded } from '../form/multipart-decode.ts'
import { FormData } from '../form/runtime-form-data.ts'
import type { HeaderList } from '../headers/header-list.ts'
import { extractMimeType, type MimeType, serializeMimeType } from '../mime/mime-type.ts'
import { Body } from './body.ts'
import { bare } from './streams.ts'

/** What the members need from their object. */
export interface BodyOwner {
  readonly body: Body | null
  readonly headers: HeaderList
}

/** The members that read the whole body, with their conversions. */
const CONVERSIONS: Record<
  Exclude<keyof BodyMembers, 'body' | 'bodyUsed' | 'textStream'>,
  (owner: BodyOwner) => Conversion<unknown>
> = {
  blob: (owner) => {
    const type = mimeTypeOf(owner)
    const contentType = type === null ? '' : serializeMimeType(type)
    return (bytes) => toBlob(bytes, { encoding: null, contentType })
  },
  arrayBuffer: () => toArrayBuffer,
  text: () => toText,
  json: () => toJson,
  formData: (owner) => {
    const type = mimeTypeOf(owner)
    return (bytes) => parseForm(bytes, type)
  },
  bytes: () => toBytes,
}

/** Adds these members to a class. `ownerOf` throws for an object of another class. */
export function defineBodyMembers(prototype: object, ownerOf: (object: object) => BodyOwner): void {
  defineMembers(prototype, {
    get body(): ReadableStream<Uint8Array> | null {
      return ownerOf(this).body?.stream ?? null
    },
    get bodyUsed(): boolean {
      return ownerOf(this).body?.used === true
    },
    textStream(this: object): ReadableStream<string> {
      const body = bodyOf(ownerOf(this))
      if (!body.usable) throw new TypeError('Body is unusable: Body has already been read')
      const { TextDecoderStream } = loadWebStreams()
      return body.stream.pipeThrough(new TextDecoderStream('utf-8', bare({ fatal: false, ignoreBOM: false })))
    },
  })
  for (const [name, conversionFor] of Object.entries(CONVERSIONS)) {
    defineMembers(prototype, {
      [name](this: object): Promise<unknown> {
        try {
          const owner = ownerOf(this)
          return bodyOf(owner).collect(conversionFor(owner), MAY_FAIL.has(name) ? describer(owner) : null)
        } catch (error) {
          return Promise.reject(error)
        }
      },
    })
  }
}

/** Those that depend on what the content is. */
const MAY_FAIL: ReadonlySet<string> = new Set(['json', 'formData'])

/** Null for what a program has made, which has no URL, and for a request. */
function describer(owner: BodyOwner & { readonly url?: unknown; readonly status?: number }): Describe | null {
  const { url, status: statusCode, headers } = owner
  if (typeof url !== 'string' || url === '' || statusCode === undefined) return null
  return (error, bytes) =>
    describeContent(error, bytes.view(), { url, statusCode, contentType: headers.get('content-type') ?? '' })
}

/** A missing body reads like an empty one, and is never used up. */
function bodyOf(owner: BodyOwner): Body {
  return owner.body ?? new Body('')
}

function mimeTypeOf({ headers }: BodyOwner): MimeType | null {
  const value = headers.get('content-type')
  return value === null ? null : extractMimeType([value])
}

function parseForm(bytes: BodyBytes, type: MimeType | null): FormData {
  if (type?.essence === 'multipart/form-data') return parseMultipart(bytes.view(), type)
  if (type?.essence !== 'application/x-www-form-urlencoded') {
    throw new TypeError(
      'Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".',
    )
  }
  const form = new FormData()
  for (const [name, value] of decodeUrlEncoded(bytes.view())) form.append(name, value)
  return form
}

function parseMultipart(bytes: Uint8Array, type: MimeType): FormData {
  const boundary = type.parameters.get('boundary')
  const form = new FormData()
  try {
    if (boundary === undefined) throw new TypeError('missing boundary in content-type header')
    for (const entry of decodeMultipart(bytes, boundary)) {
      if ('value' in entry) form.append(entry.name, entry.value)
      else {
        const file = new File([entry.bytes], entry.filename, { type: entry.contentType })
        form.append(entry.name, file as unknown as globalThis.Blob, entry.filename)
      }
    }
  } catch (cause) {
    throw new TypeError('Failed to parse body as FormData.', { cause })
  }
  return form
}
