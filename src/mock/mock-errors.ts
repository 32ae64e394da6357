/** The errors of mocks, exported together as `mockErrors`. */
import { defineKind } from '../base/object/kind.ts'
import { UndiciError } from '../errors.ts'
import type { PendingInterceptor } from './match/interception.ts'

/** The part of a request that no interceptor accepts. `origin`: nothing is defined for its origin. */
export type MatchStage = 'origin' | 'path' | 'method' | 'body' | 'headers'

/** The request that matched nothing. Secrets are shown as their length. */
export interface UnmatchedRequest {
  /** As given. */
  readonly method: string
  /** Where it was to go. */
  readonly origin: string
  /** With the query, sorted by name. */
  readonly path: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** As text, where there is one. */
  readonly body: string | null
}

/** The interceptor that is most like a request. */
export interface NearestInterceptor
  extends Readonly<Pick<PendingInterceptor, 'times' | 'timesInvoked' | 'persist' | 'consumed'>> {
  /** What it matches, as text. */
  readonly method: string
  /** What it matches, as text. */
  readonly origin: string
  /** What it matches, as text. */
  readonly path: string
  /** File, line and column, if known. */
  readonly definedAt: string | null
}

/** A part in which a request differs from the nearest interceptor. */
export interface Mismatch {
  /** For one header, its name follows: `headers.accept`. */
  readonly part: string
  /** What the interceptor wants, as text. */
  readonly expected: string
  /** What the request has, as text. */
  readonly received: string
  /** The first place where JSON differs. */
  readonly difference: string | null
}

/** What is known about a request that matched nothing. */
export interface MismatchReport {
  readonly request: UnmatchedRequest
  readonly nearest: NearestInterceptor | null
  readonly mismatches: readonly Mismatch[]
  readonly stage: MatchStage
}

/** No interceptor matches, and the network is not allowed. */
export class MockNotMatchedError extends UndiciError {
  override name: string = 'MockNotMatchedError'
  override code: string = 'UND_MOCK_ERR_MOCK_NOT_MATCHED'
  /** The request; null if the error was not made by a mock agent. */
  readonly request: UnmatchedRequest | null = null
  /** The interceptor that is most like it; null if its origin has none. */
  readonly nearest: NearestInterceptor | null = null
  /** The parts in which they differ. */
  readonly mismatches: readonly Mismatch[] = []
  /** The part that no interceptor accepts. */
  readonly stage: MatchStage | null = null

  constructor(message?: string, report?: MismatchReport) {
    super(message || 'The request does not match any registered mock dispatches')
    Object.assign(this, report)
  }
}
defineKind(MockNotMatchedError, 'undici.error.UND_MOCK_ERR_MOCK_NOT_MATCHED', 'MockNotMatchedError')
