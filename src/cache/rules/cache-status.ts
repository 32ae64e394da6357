/** Writes Cache-Status (RFC 9211): how the cache handled a request. */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { fieldText } from '../../relay/fields.ts'
import type { CacheValue } from '../store/cache-store.ts'
import { SECOND } from './freshness.ts'

/** Why a request went to the origin (RFC 9211 §2.2). */
export type ForwardReason = 'bypass' | 'method' | 'miss' | 'request' | 'stale' | 'uri-miss'

export type Handling =
  | { readonly kind: 'hit'; readonly ttl: number }
  | {
      readonly kind: 'forwarded'
      readonly reason: ForwardReason
      /** What the origin answered, where the caller gets another status. */
      readonly status?: number
      readonly ttl?: number
      readonly stored?: boolean
      readonly collapsed?: boolean
      /** Why the response was not stored. */
      readonly detail?: string
    }

const TOKEN = /^[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*$/
const PRINTABLE = /^[\x20-\x7e]+$/

/** The name of a cache as a token or a string of Structured Fields; null if it is neither. */
export function cacheName(text: string): string | null {
  if (TOKEN.test(text)) return text
  return PRINTABLE.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : null
}

/** Whole seconds that a response stays fresh; negative for a stale one. */
export function ttlOf(entry: CacheValue, now: number): number {
  return Math.floor((entry.staleAt - now) / SECOND)
}

/** Appends this cache to the caches that the response has passed: those nearer to the origin come first. */
export function addCacheStatus(headers: HeaderObject, name: string, handling: Handling): void {
  const earlier = fieldText(headers, 'cache-status')
  const member = `${name}${parameters(handling)}`
  headers['cache-status'] = earlier === null ? member : `${earlier}, ${member}`
}

function parameters(handling: Handling): string {
  if (handling.kind === 'hit') return `; hit; ttl=${handling.ttl}`
  const { reason, status, ttl, stored, collapsed, detail } = handling
  let text = `; fwd=${reason}`
  if (status !== undefined) text += `; fwd-status=${status}`
  if (ttl !== undefined) text += `; ttl=${ttl}`
  if (stored) text += '; stored'
  if (collapsed) text += '; collapsed'
  if (detail !== undefined) text += `; detail=${detail}`
  return text
}
