/** Entity tags and their comparison (RFC 9110 §8.8.3). */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { singleField, trimmed } from '../../relay/fields.ts'

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]+"$/
const TAGS = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

export function isEntityTag(text: string): boolean {
  return ENTITY_TAG.test(text)
}

/** The entity tag of a response, if it is one: quoted and not empty. */
export function entityTag(headers: HeaderObject): string | null {
  const tag = trimmed(singleField(headers, 'etag') ?? '')
  return isEntityTag(tag) ? tag : null
}

export function isWeak(tag: string): boolean {
  return tag.startsWith('W/')
}

export function weaklyEqual(a: string, b: string): boolean {
  return a.replace(/^W\//, '') === b.replace(/^W\//, '')
}

/** Whether If-None-Match lists the tag, or any (`*`). */
export function listsTag(ifNoneMatch: string, tag: string | null): boolean {
  if (trimmed(ifNoneMatch) === '*') return true
  if (tag === null) return false
  return (ifNoneMatch.match(TAGS) ?? []).some((listed) => weaklyEqual(listed, tag))
}
