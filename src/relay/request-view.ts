/** A request as the cache sees it: its key, its headers by name, its directives. */

import { now } from '../base/loop/clock.ts'
import { setOwn } from '../base/object/own-record.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { lowerCaseName } from '../protocol/header-names.ts'
import { checkPath, withQuery } from '../request/check-options.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { type FlatHeaders, flatHeaders, isPairIterable } from '../request/headers-input.ts'
import { type CacheControlDirectives, readCacheControl } from './cache-control.ts'
import { fieldLines, fieldText } from './fields.ts'
import { keyOrigin } from './target-uri.ts'

const NO_DIRECTIVES: CacheControlDirectives = Object.freeze({})

/** Names what is asked for. */
export interface RequestKey {
  /** The normalised origin; see `keyOrigin()`. */
  origin: string
  method: string
  /** With the query. */
  path: string
  headers?: HeaderObject
}

export interface RequestView {
  readonly opts: DispatchOptions
  readonly key: RequestKey
  readonly headers: HeaderObject
  readonly control: CacheControlDirectives
  /** On the clock of timings. */
  readonly queuedAt: number
  /** False for one that the cache only watches or passes on. */
  readonly storable: boolean
}

/** Null for options that the dispatcher refuses: it reports what is wrong. `origin` is normalised. */
export function viewRequest(opts: DispatchOptions, origin: string, storable: boolean): RequestView | null {
  const { method } = opts
  const path = readPath(opts)
  const headers = path === null ? null : readHeaders(opts.headers)
  if (path === null || headers === null) return null
  return {
    // An iterator can be read only once.
    opts: isOneShot(opts.headers) ? { ...opts, headers: headers as Record<string, string | string[]> } : opts,
    key: { origin: keyOrigin(origin, headers, opts.servername), method, path, headers },
    headers,
    control: requestControl(headers),
    queuedAt: now(),
    storable,
  }
}

/** A request that the cache only passes on. */
export function viewPassing(opts: DispatchOptions): RequestView {
  const { path, method } = opts
  const key = { origin: '', method, path }
  return { opts, key, headers: {}, control: NO_DIRECTIVES, queuedAt: now(), storable: false }
}

/** Only a valid path: one with a space could pass for another partition. */
function readPath(opts: DispatchOptions): string | null {
  try {
    const path = checkPath(opts.path, opts.method)
    return opts.query ? withQuery(path, opts.query) : path
  } catch {
    return null
  }
}

function isOneShot(headers: unknown): boolean {
  return typeof headers === 'object' && headers !== null && !Array.isArray(headers) && isPairIterable(headers)
}

/** `pragma: no-cache` counts where there is no Cache-Control (RFC 9111 §5.4). */
function requestControl(headers: HeaderObject): CacheControlDirectives {
  const value = fieldLines(headers, 'cache-control')
  if (value !== undefined) return readCacheControl(value).directives
  const pragma = fieldText(headers, 'pragma')
  return pragma?.toLowerCase().includes('no-cache') ? { 'no-cache': true } : NO_DIRECTIVES
}

/** Null for an invalid name or value: the dispatcher refuses the request. */
function readHeaders(given: unknown): HeaderObject | null {
  const headers: HeaderObject = {}
  let flat: FlatHeaders
  try {
    flat = flatHeaders(given)
  } catch {
    return null
  }
  for (let i = 0; i < flat.length; i += 2) if (!add(headers, flat[i], flat[i + 1])) return null
  return headers
}

function add(headers: HeaderObject, name: unknown, value: unknown): boolean {
  if (value === undefined) return true
  if (typeof name !== 'string') return false
  const lower = lowerCaseName(name)
  const lines = textOf(value)
  if (lines === null) return false
  const present = fieldLines(headers, lower)
  setOwn(headers, lower, present === undefined ? lines : [present, lines].flat())
  return true
}

function textOf(value: unknown): string | string[] | null {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (Array.isArray(value)) {
    const lines = value.map(textOf)
    return lines.every((line) => typeof line === 'string') ? (lines as string[]) : null
  }
  return typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol'
    ? null
    : String(value)
}
