/** Whether a request failed because of the server or the way to it. */
import type { DispatchController } from '../request/dispatch-handler.ts'

/** Errors about the request, the caller's limits or the state of the dispatcher: the server had no part in them. */
const OWN_FAULTS: ReadonlySet<string> = new Set([
  'UND_ERR_ABORT',
  'UND_ERR_ABORTED',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
  'UND_ERR_MAX_ORIGINS_REACHED',
  'UND_ERR_CIRCUIT_OPEN',
  'UND_ERR_BLOCKED_ADDRESS',
  'UND_ERR_THROTTLED',
])

/** An abort is not the server's fault, whatever its reason. An error without a code is a value of the caller. */
export function isUpstreamFailure(
  controller: DispatchController | null | undefined,
  error: unknown,
): boolean {
  if (controller?.aborted === true || typeof error !== 'object' || error === null) return false
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && !OWN_FAULTS.has(code)
}
