/**
 * Answering `text()` and its siblings: one conversion of all bytes. Shared by the bodies of `request()` and
 * `fetch()`.
 */
import { Blob } from 'node:buffer'
import type { BodyBytes } from '../base/bytes/body-bytes.ts'
import type { HeaderObject } from '../protocol/header-block.ts'

/** The length in the head; null when unknown, and for HEAD, which announces the length of another body. */
export function announcedLength(headers: HeaderObject, isHead: boolean): number | null {
  const value = headers['content-length']
  if (isHead || typeof value !== 'string') return null
  const length = Number(value)
  return Number.isSafeInteger(length) && length >= 0 ? length : null
}

/** What a conversion may need beside the bytes. */
export interface CollectContext {
  /** Set by `setEncoding`. */
  readonly encoding: BufferEncoding | null
  readonly contentType: string
}

export const NO_CONTEXT: CollectContext = { encoding: null, contentType: '' }

export type Conversion<T> = (bytes: BodyBytes, context: CollectContext) => T

function isUtf8(encoding: BufferEncoding | null): boolean {
  if (encoding === null || encoding === 'utf8') return true
  const name = encoding.toLowerCase()
  return name === 'utf8' || name === 'utf-8'
}

export function toText(bytes: BodyBytes, context: CollectContext): string {
  const { encoding } = context
  return isUtf8(encoding) ? bytes.text() : bytes.view().toString(encoding ?? 'utf8')
}

export function toJson(bytes: BodyBytes, context: CollectContext): unknown {
  return JSON.parse(toText(bytes, context))
}

export function toBytes(bytes: BodyBytes): Uint8Array<ArrayBuffer> {
  return bytes.own()
}

export function toArrayBuffer(bytes: BodyBytes): ArrayBuffer {
  return bytes.own().buffer
}

export function toBlob(bytes: BodyBytes, context: CollectContext): Blob {
  return new Blob([bytes.view()], { type: context.contentType })
}

/** Converts the bytes and releases their memory. Throws what the conversion throws. */
export function convertBytes<T>(bytes: BodyBytes, convert: Conversion<T>, context: CollectContext): T {
  const converted = convert(bytes, context)
  bytes.release()
  return converted
}

/** A caller of `text()` or a sibling that waits for more bytes. */
export interface Collector {
  readonly convert: Conversion<unknown>
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
  /** Adds to an error of the conversion whose content it is about. */
  readonly describe?: Describe | null
}

export type Describe = (error: unknown, bytes: BodyBytes) => void

/** Whether the result does not use the memory of the bytes. */
export function isDecoding(convert: Conversion<unknown>): boolean {
  return convert === toText || convert === toJson
}
