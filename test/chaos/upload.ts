/** Request bodies of all kinds, with the same content. */
import { PassThrough, Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import type { BodyInput } from '../../src/index.ts'
import { CollectedParts, Dispenser, SecondGeneration } from '../support/old-streams.ts'
import type { Random } from './random.ts'
import { giveAway } from './reader.ts'

export const UPLOADS = {
  none: 17,
  'empty stream': 2,
  'empty iterator': 1,
  text: 5,
  bytes: 3,
  'bytes given away': 1,
  stream: 3,
  iterator: 2,
  'iterator of pieces given away': 1,
  'old stream': 1,
  'collected parts': 1,
  'second generation': 1,
  'late stream': 1,
  'web stream': 1,
} as const

export type Upload = keyof typeof UPLOADS

/** Requests with these have content; all others have an empty body, or none. */
export const CONTENT_METHODS: readonly string[] = ['POST', 'PUT']

/** Methods for an empty body, with which servers do and do not expect content. */
const EMPTY_METHODS: readonly string[] = ['GET', 'DELETE', 'OPTIONS', 'PURGE', 'PATCH']

export function methodOf(kind: Upload, random: Random): string {
  if (kind === 'none') return 'GET'
  return random.pick(isEmpty(kind) ? EMPTY_METHODS : CONTENT_METHODS)
}

export function isEmpty(kind: Upload): boolean {
  return kind === 'none' || kind === 'empty stream' || kind === 'empty iterator'
}

/** The change made to a body right after the call. */
export interface MadeUpload {
  readonly body: BodyInput | null
  afterwards(): void
}

export function makeUpload(kind: Upload, content: string, random: Random): MadeUpload {
  const bytes = new Uint8Array(Buffer.from(content))
  const afterwards = (): void => {
    if (kind === 'bytes given away') giveAway(bytes)
  }
  return { body: bodyOf(kind, content, bytes, random), afterwards }
}

function bodyOf(kind: Upload, content: string, bytes: Uint8Array, random: Random): BodyInput | null {
  if (kind === 'none') return null
  if (kind === 'text') return content
  if (kind === 'bytes' || kind === 'bytes given away') return bytes
  const parts = isEmpty(kind) ? [] : cut(content, random)
  switch (kind) {
    case 'stream':
    case 'empty stream':
      return Readable.from(parts)
    case 'iterator':
    case 'empty iterator':
      return iterator(parts, false)
    case 'iterator of pieces given away':
      return iterator(parts, true)
    case 'old stream':
      return new Dispenser(parts) as unknown as BodyInput
    case 'collected parts':
      return new CollectedParts(parts) as unknown as BodyInput
    case 'second generation': {
      const stream = new SecondGeneration()
      Readable.from(parts).pipe(stream)
      return stream
    }
    case 'late stream': {
      const stream = new PassThrough()
      setImmediate(() => Readable.from(parts).pipe(stream))
      return stream
    }
    case 'web stream':
      return ReadableStream.from(parts) as unknown as AsyncIterable<Uint8Array>
  }
}

function cut(text: string, random: Random): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let at = 0; at < text.length; ) {
    const size = random.between(1, text.length)
    parts.push(new Uint8Array(Buffer.from(text.slice(at, at + size))))
    at += size
  }
  return parts
}

async function* iterator(parts: readonly Uint8Array[], gives: boolean): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    await new Promise((resolve) => setImmediate(resolve))
    yield part
    if (gives) giveAway(part)
  }
}
