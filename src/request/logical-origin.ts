/**
 * The origin that a request is meant for, where something has replaced it with the address of a server. What
 * belongs to an origin, such as credentials, cached responses and connections, goes by the name: two names
 * may have one address.
 */
import type { DispatchOptions } from './dispatch-options.ts'

/**
 * The origin that all requests of a dispatcher go to; null if it has several and chooses among them;
 * undefined if each request names its own.
 */
export type OwnOrigin = string | null | undefined

const LOGICAL = Symbol('ventuno.logicalOrigin')

interface Replacement {
  /** The origin with the name. */
  readonly logical: string
  /** The name alone. */
  readonly name: string
  /** The origin with the address. */
  readonly sent: string
}

type Marked = DispatchOptions & { [LOGICAL]?: Replacement | undefined }

/** The same options, which are the caller's own copy, with an address in place of the name. */
export function replaceOrigin(opts: DispatchOptions, replacement: Replacement): DispatchOptions {
  const marked: Marked = opts
  marked.origin = replacement.sent
  marked[LOGICAL] = replacement
  return marked
}

/** For a copy of options that gets another origin, which may happen to be the address. */
export function dropReplacement(opts: DispatchOptions): void {
  const marked: Marked = opts
  if (marked[LOGICAL] !== undefined) marked[LOGICAL] = undefined
}

function replacementOf(opts: DispatchOptions): Replacement | null {
  const replacement = (opts as Marked)[LOGICAL]
  // A copy may have got another origin since.
  return replacement !== undefined && replacement.sent === opts.origin ? replacement : null
}

/** `opts.origin`, or the one that an address has replaced. */
export function logicalOrigin(opts: DispatchOptions): string | URL | undefined {
  return replacementOf(opts)?.logical ?? opts.origin
}

/** The origin that an address has replaced; null if none has. */
export function replacedOrigin(opts: DispatchOptions): string | null {
  return replacementOf(opts)?.logical ?? null
}

/** The host name that an address has replaced; null if none has. */
export function replacedName(opts: DispatchOptions): string | null {
  return replacementOf(opts)?.name ?? null
}
