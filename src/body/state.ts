/**
 * The life of a response body: its states and the transitions between them. Knows nothing of streams.
 *
 * The state is the consumer's half. The peer's half is {@link Incoming}: any consumer may come before, during
 * or after the arrival of the bytes.
 */
import type { BodyBytes } from '../base/bytes/body-bytes.ts'
import { InternalError } from '../base/error/invariant.ts'
import type { Collector } from './collect.ts'

/** Who gets the bytes. */
export type BodyState =
  /** No consumer yet: chunks are kept, the stream does not run. */
  | { readonly kind: 'held' }
  /**
   * `text()` or a sibling was called. It begins a microtask later, so that listeners attached next get the
   * data too.
   */
  | { readonly kind: 'asked' }
  /** A collection has the bytes and gets those that arrive; so does the stream if it runs. */
  | { readonly kind: 'collecting'; readonly collector: Collector; readonly bytes: BodyBytes }
  /** An iterator takes the kept chunks and waits for more; the stream does not run. */
  | { readonly kind: 'iterating' }
  /** The stream runs and has the bytes; its end is the end of the body. */
  | { readonly kind: 'streaming' }
  /**
   * The bytes are discarded: `room` more may arrive, or the running stream is emptied and counts them (null).
   */
  | { readonly kind: 'dumping'; room: number | null }
  | Ended
  | Failed

/**
 * Consumed. `end` says what a listener gets:
 * - `unannounced`: the stream never ran and has no listener; it announces its end to the first one
 * - `announced`: the stream emits `end` and `close`, or has done so
 * - `streamed`: the stream ran beside a collection and reaches its end on its own
 */
export interface Ended {
  readonly kind: 'ended'
  readonly end: 'unannounced' | 'announced' | 'streamed'
}

export interface Failed {
  readonly kind: 'failed'
  /** Any value: callers may abort with one that is not an error. */
  readonly reason: unknown
  /** A listener threw it, so an absent `error` listener must not hide it. */
  readonly isLoud: boolean
  /** It failed before it had a consumer. */
  readonly isUnused: boolean
}

export const HELD: BodyState = Object.freeze({ kind: 'held' })
export const ASKED: BodyState = Object.freeze({ kind: 'asked' })
export const ITERATING: BodyState = Object.freeze({ kind: 'iterating' })
export const STREAMING: BodyState = Object.freeze({ kind: 'streaming' })
export const EMPTYING: BodyState = Object.freeze({ kind: 'dumping', room: null })
export const UNANNOUNCED: BodyState = Object.freeze({ kind: 'ended', end: 'unannounced' })
export const ANNOUNCED: BodyState = Object.freeze({ kind: 'ended', end: 'announced' })
export const STREAMED: BodyState = Object.freeze({ kind: 'ended', end: 'streamed' })

type Kind = BodyState['kind']

/**
 * The table of transitions, one row for each state. A switch, because every response passes it two or three
 * times.
 */
function mayFollow(from: Kind, to: Kind): boolean {
  switch (from) {
    case 'held':
      return to !== 'held' && to !== 'collecting'
    case 'asked':
      return to === 'collecting' || to === 'ended' || to === 'failed'
    case 'iterating':
      return to === 'streaming' || to === 'dumping' || to === 'ended' || to === 'failed'
    case 'streaming':
      return to === 'asked' || to === 'dumping' || to === 'failed'
    // `ended` follows itself when the end is announced. A body can be destroyed with an error after its end.
    case 'collecting':
    case 'dumping':
    case 'ended':
      return to === 'ended' || to === 'failed'
    case 'failed':
      return false
  }
}

/** The next state; every change of state goes through here. */
export function advance(from: BodyState, to: BodyState): BodyState {
  if (!mayFollow(from.kind, to.kind)) {
    throw new InternalError(`a body cannot become ${to.kind} when it is ${from.kind}`)
  }
  return to
}
