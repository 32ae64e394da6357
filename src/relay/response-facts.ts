/**
 * What a layer knows about a response and a layer further out has to know: that it is a stored one, that its
 * body is not the server's, which redirects led to it. The facts are a property of the controller that comes
 * with the response, and a relay with a controller of its own takes them over with the head, so that they
 * survive any stack.
 */
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'

/**
 * A response that was followed. A cache outside has to know it: what comes in the end belongs to another URL.
 */
export interface FollowedRedirect {
  readonly statusCode: number
  readonly headers: HeaderObject
  /** When its head arrived. */
  readonly responseTime: number
  /** The URL that was asked for instead. */
  readonly to: URL
}

/** `unknown`: another library has followed some, and shows no more than their URLs. */
export type Followed = readonly FollowedRedirect[] | 'unknown'

export const NONE_FOLLOWED: readonly FollowedRedirect[] = []

export interface ResponseFacts {
  /**
   * It comes from a store, with the headers of an earlier time: the cookies in them were set then, and
   * setting them again would bring an old session back.
   */
  readonly isStored: boolean
  /**
   * Byte n of its body is not byte n on the server: a transfer that breaks off cannot go on with a range
   * request.
   */
  readonly isTransformed: boolean
  /** The redirects that led to it; null if no layer of this library looked for any. */
  readonly followed: Followed | null
  /**
   * Request fields that a layer nearer to the network writes or may write. A cache outside does not see their
   * values, and cannot tell which requests a response that varies with them answers.
   */
  readonly written: readonly string[]
}

/** Of the registry: a process may have several copies of the library. */
const FACTS = Symbol.for('ventuno.responseFacts')

export const NO_FACTS: ResponseFacts = { isStored: false, isTransformed: false, followed: null, written: [] }

const NOT_REDIRECTED: ResponseFacts = { ...NO_FACTS, followed: NONE_FOLLOWED }

/**
 * A data property, not a getter: reading it throws on no controller, not even on one that inherits from ours.
 */
type Bearer = { [FACTS]?: ResponseFacts | undefined }

/** The facts about the response that comes with this controller, if there is one. */
export function responseFacts(controller: object | null): ResponseFacts {
  return (controller as Bearer | null)?.[FACTS] ?? NO_FACTS
}

/** For a new controller: a property that comes later would give it another shape, and memory of its own. */
export function prepareForFacts(controller: DispatchController): void {
  ;(controller as Bearer)[FACTS] = undefined
}

/** Replaces what was said about an earlier response of the same controller. */
export function stateFacts(controller: DispatchController, facts: ResponseFacts): void {
  const bearer = controller as Bearer
  // Most responses have none, and most controllers never need the property.
  if (facts !== NO_FACTS || bearer[FACTS] !== undefined) bearer[FACTS] = facts
}

/** The same facts about a response whose request may have had this field from the layer that says so. */
export function withWritten(facts: ResponseFacts, name: string): ResponseFacts {
  return facts.written.includes(name) ? facts : { ...facts, written: [...facts.written, name] }
}

/** The redirects that led to the response with this controller, to a request with this context. */
export function followedRedirects(controller: DispatchController, context: unknown): Followed {
  const { followed } = responseFacts(controller)
  if (followed !== null) return followed
  return historyOf(context).length > 0 ? 'unknown' : NONE_FOLLOWED
}

/** The same facts about a response to which these redirects have led. */
export function withFollowed(facts: ResponseFacts, followed: Followed): ResponseFacts {
  if (facts === NO_FACTS && followed === NONE_FOLLOWED) return NOT_REDIRECTED
  return facts.followed === followed ? facts : { ...facts, followed }
}

/** The URLs that were requested, if redirects were followed. */
export function requestedUrls(context: unknown): readonly URL[] {
  const history = historyOf(context)
  return history.length > 1 ? history.filter((url) => url instanceof URL) : []
}

function historyOf(context: unknown): readonly unknown[] {
  if (typeof context !== 'object' || context === null) return []
  const { history } = context as { history?: unknown }
  return Array.isArray(history) ? history : []
}
