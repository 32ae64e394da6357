/** What has to end before its owner may close. */

export class PendingSet<T> extends Set<T> {
  #whenEmpty: (() => void) | null = null

  override delete(member: T): boolean {
    const isMember = super.delete(member)
    if (isMember && this.size === 0) this.whenEmpty(this.#whenEmpty)
    return isMember
  }

  /** Called once, now or later; null for what need not be called any more. */
  whenEmpty(done: (() => void) | null): void {
    this.#whenEmpty = this.size === 0 ? null : done
    if (this.size === 0) done?.()
  }
}
