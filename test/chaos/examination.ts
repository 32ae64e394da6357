/** The checks after a chaos run, whatever has happened in it. */
import { inspect } from 'node:util'
import { InjectedError } from '../torture/fault.ts'
import type { Protocol } from '../torture/torture-origin.ts'
import type { ChaosOrigin } from './chaos-origin.ts'
import type { Workload } from './workload.ts'

/** Codes of the library, of its parser, of the system, and the documented codes of the runtime. */
const KNOWN = /^(UND_ERR|HPE_|ECONN|EPIPE|ERR_STREAM_PREMATURE_CLOSE|ERR_HTTP2|ERR_SSL|EPROTO)/

export function examine(protocol: Protocol, { calls, repeatable }: Workload, origin: ChaosOrigin): string[] {
  const problems = [...origin.violations]
  for (const [id, call] of calls.entries()) {
    problems.push(...call.problems())
    if (!isKnown(call.error)) problems.push(`request ${id}: ${inspect(call.error)}`)
    if (call.error === null && !origin.processed.has(id))
      problems.push(`request ${id}: an answer from nowhere`)
  }
  for (const [id, times] of origin.processed) {
    // Over HTTP/1.1 an idempotent request that was pipelined after a lost one may be sent again.
    const isPipelined = protocol === 'h1' && origin.idempotent.has(id)
    // Over HTTP/2 one may be sent again, once, if the server ended the connection with an error.
    const isSuspected = times === 2 && origin.suspected.has(id)
    if (times > 1 && !isPipelined && !isSuspected && !repeatable.has(id))
      problems.push(`request ${id} was processed ${times} times`)
  }
  return problems
}

function isKnown(error: unknown): boolean {
  if (error === null || error instanceof InjectedError) return true
  if (!(error instanceof Error)) return false
  if (isFetchFailure(error)) return isKnown(error.cause)
  const { code } = error as { code?: unknown }
  return (
    typeof code === 'string' &&
    KNOWN.test(code) &&
    (error.cause === undefined || !(error.cause instanceof Error) || isKnown(error.cause))
  )
}

/** `fetch` has these two messages, with the reason in the cause. */
function isFetchFailure(error: Error): boolean {
  return error instanceof TypeError && ['fetch failed', 'terminated'].includes(error.message)
}
