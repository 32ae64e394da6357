/** The members that `Request` and `Response` share for reading a body. */
import { File } from 'node:buffer'
import type { BodyBytes } from '../../base/bytes/body-bytes.ts'
import { loadWebStreams } from '../../base/node/lazy-modules.ts'
import { toArrayBuffer, toBlob, toBytes, toJson } from '../../body/collect.ts'
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

/** Adds these members to a class. `ownerOf` throws for an object of another class. */
export function defineBodyMembers(prototype: object, ownerOf: (object: object) => BodyOwner): void {
  const asked = <T>(object: object, answer: (owner: BodyOwner) => Promise<T>): Promise<T> => {
    try {
      return answer(ownerOf(object))
    } catch (error) {
      return Promise.reject(error)
    }
  }
  const members: BodyMembers & ThisType<object> = {
    blob() {
      return asked(this, (owner) => {
        const type = mimeTypeOf(owner)
        const contentType = type === null ? '' : serializeMimeType(type)
        return bodyOf(owner).collect((bytes) => toBlob(bytes, { encoding: null, contentType }))
      })
    },
    arrayBuffer() {
      return asked(this, (owner) => bodyOf(owner).collect(toArrayBuffer))
    },
    text() {
      return asked(this, (owner) => (owner.body === null ? Promise.resolve('') : owner.body.collectText()))
    },
    json() {
      return asked(this, (owner) => bodyOf(owner).collect(toJson))
    },
    formData() {
      return asked(this, (owner) => {
        const type = mimeTypeOf(owner)
        return bodyOf(owner).collect((bytes) => parseForm(bytes, type))
      })
    },
    bytes() {
      return asked(this, (owner) => bodyOf(owner).collect(toBytes))
    },
    textStream() {
      const body = bodyOf(ownerOf(this))
      if (!body.usable) throw new TypeError('Body is unusable: Body has already been read')
      const { TextDecoderStream } = loadWebStreams()
      return body.stream.pipeThrough(new TextDecoderStream('utf-8', bare({ fatal: false, ignoreBOM: false })))
    },
  }
  defineMembers(prototype, members)
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
  for (const { name, value } of decodeUrlEncoded(bytes.view())) form.append(name, value)
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
