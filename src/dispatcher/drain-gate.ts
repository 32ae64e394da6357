/**
 * The other half of what `dispatch()` returns: after each `false` comes one `drain`, when there is room
 * again, but never inside a `dispatch()` call, whose result would not be known to the caller yet.
 */
export class DrainGate {
  /** `dispatch()` has returned false, and `drain` follows. */
  needsDrain = false
  /** How many `dispatch()` calls are under way: a handler may make another one. */
  entered = 0

  /** What `dispatch()` returns. */
  answer(hasRoom: boolean): boolean {
    if (!hasRoom) this.needsDrain = true
    return hasRoom
  }

  /**
   * Whether `drain` is due. `now`: it is to be emitted, and counts as emitted. `later`: after the present
   * call.
   */
  check(hasRoom: boolean): 'no' | 'now' | 'later' {
    if (!this.needsDrain || !hasRoom) return 'no'
    if (this.entered > 0) return 'later'
    this.needsDrain = false
    return 'now'
  }
}
