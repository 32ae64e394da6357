/**
 * When callers get their responses. One poll of the event loop brings the responses of many requests, one
 * read after another. If each caller went on before the next read, its code and the code that reads would
 * drive each other out of the caches of the processor. So callers wait until everything has been read that
 * came with the poll.
 */
import { runtimeNextTick, runtimeSetImmediate } from './runtime-turns.ts'
import { throwLater } from './throw-later.ts'

/** A response for a caller. */
export interface Answer {
  deliver(): void
}

/** With fewer callers, most responses are alone in their turn, and an immediate costs more than it saves. */
const MANY = 8

const RESOLVED = Promise.resolve()

let callers = 0
let ready: Answer[] = []
/** To be run when the callers have gone on. */
let followers: (() => void)[] = []

/** A caller waits for a response from now on. */
export function addCaller(): void {
  callers++
}

/** It waits no more: it got an error. */
export function removeCaller(): void {
  callers--
}

/** Delivers the response of a caller, at the end of the turn if there are others. */
export function answerCaller(answer: Answer): void {
  const isAlone = callers-- < MANY && ready.length === 0
  if (isAlone) answer.deliver()
  else if (ready.push(answer) === 1) runtimeSetImmediate(deliverAll)
}

/** Callers get their responses at the end of this turn. */
export function areAnswersDue(): boolean {
  return ready.length > 0
}

/**
 * For what callers may add to: runs the function when the callers have gone on that get their responses at
 * the end of this turn. False, and the function is not run, if there are none.
 */
export function afterAnswers(follower: () => void): boolean {
  if (ready.length === 0) return false
  followers.push(follower)
  return true
}

function deliverAll(): void {
  const answers = ready
  ready = []
  for (const answer of answers) {
    try {
      answer.deliver()
    } catch (error) {
      throwLater(error)
    }
  }
  if (followers.length > 0) void RESOLVED.then(endMicrotasks)
}

/** A tick that is set in a microtask runs when no microtask is left. */
function endMicrotasks(): void {
  runtimeNextTick(runFollowers)
}

function runFollowers(): void {
  const present = followers
  followers = []
  for (const follower of present) {
    try {
      follower()
    } catch (error) {
      throwLater(error)
    }
  }
}
