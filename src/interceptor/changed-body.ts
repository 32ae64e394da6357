/**
 * Which responses have a body that an interceptor has changed: byte n of such a body is not byte n on the server, so a
 * transfer that breaks off cannot go on with a range request.
 */
import type { DispatchController } from '../request/dispatch-handler.ts'

const changed = new WeakSet<DispatchController>()

/** For interceptors that pass on another body than they get: marks the controller that they pass on with it. */
export function markBodyChanged(controller: DispatchController): void {
  changed.add(controller)
}

export function isBodyChanged(controller: DispatchController): boolean {
  return changed.has(controller)
}
