/**
 * Which responses come from a store, with the headers of an earlier time: the cookies in them were set then, and setting them
 * again would bring an old session back.
 */
import type { DispatchController } from '../request/dispatch-handler.ts'

const stored = new WeakSet<DispatchController>()

/** For caches: marks the controller that they pass on with a stored response. */
export function markStored(controller: DispatchController): void {
  stored.add(controller)
}

export function isStored(controller: DispatchController): boolean {
  return stored.has(controller)
}
