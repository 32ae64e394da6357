/** Matchers for request bodies: text, bytes, forms, and JSON by value. */
import { isAnyArrayBuffer, isRegExp } from 'node:util/types'
import { withCrLf } from '../../request/form-part.ts'
import { bytesOf, isForm, textOf } from '../mock-body.ts'
import { differenceAt } from './json-difference.ts'
import { type FormEntry, multipartEntries } from './multipart-entries.ts'
import { decidesFor, testPattern } from './text-matcher.ts'

/**
 * A string or bytes must equal the body, a RegExp is tested on its text. An object or array is compared with
 * the parsed JSON, URLSearchParams and FormData by their entries. A function gets the body (as text if it was
 * a stream) and returns true.
 */
export type BodyMatcher =
  | string
  | RegExp
  | Uint8Array
  | ArrayBuffer
  | URLSearchParams
  | FormData
  // biome-ignore lint/suspicious/noExplicitAny: bodies are of many types, and callers name the one they get
  | ((body: any) => boolean)
  | readonly unknown[]
  | { readonly [name: string]: unknown }

/** `body` is as the caller gave it, unless it was collected. */
export function matchesBody(matcher: unknown, body: unknown): boolean {
  if (matcher === undefined || matcher === null) return true
  if (typeof matcher === 'function') return decidesFor(matcher as (body: unknown) => unknown, body)
  if (isForm(matcher)) return matchesForm(entriesOfForm(matcher), body)
  const text = textOf(body ?? '')
  if (text === null) return false
  if (typeof matcher === 'string') return matcher === text
  if (isRegExp(matcher)) return body !== undefined && body !== null && testPattern(matcher, text)
  if (typeof matcher !== 'object') return false
  if (ArrayBuffer.isView(matcher) || isAnyArrayBuffer(matcher)) {
    return bytesOf(matcher)!.equals(bytesOf(body) ?? Buffer.from(text))
  }
  if (matcher instanceof URLSearchParams) return sorted(matcher) === sorted(new URLSearchParams(text))
  return jsonDifference(matcher, text) === null
}

/** Where the JSON in a text differs from what is expected; null if it does not. */
export function jsonDifference(expected: unknown, text: string): string | null {
  let received: unknown
  try {
    received = JSON.parse(text)
  } catch {
    return ''
  }
  return differenceAt(JSON.parse(JSON.stringify(expected)), received)
}

function sorted(params: URLSearchParams): string {
  const copy = new URLSearchParams(params)
  copy.sort()
  return copy.toString()
}

/** Files are compared by name: matchers are synchronous, and reading a file is not. */
function entriesOfForm(form: Iterable<[string, unknown]>): FormEntry[] {
  return Array.from(form, ([name, value]): FormEntry => {
    if (typeof value === 'string') return [name, null, withCrLf(value)]
    return [name, (value as { name?: string }).name ?? 'blob', '']
  })
}

function matchesForm(expected: readonly FormEntry[], body: unknown): boolean {
  const received = isForm(body) ? entriesOfForm(body) : multipartEntries(textOf(body) ?? '')
  if (!received || received.length !== expected.length) return false
  return expected.every(([name, fileName, content], i) => {
    const other = received[i]!
    return name === other[0] && fileName === other[1] && (fileName !== null || content === other[2])
  })
}
