/**
 * A first in, first out list, linked through its members: adding, taking and removing one costs the same
 * however many there are, and a removed member leaves nothing in the list. A member is in one list at most.
 */
export interface Listed<N extends Listed<N>> {
  /** The list that it is in, and its neighbours there. Only the list writes these. */
  listedIn: IntrusiveList<N> | null
  nextListed: N | null
  previousListed: N | null
}

export class IntrusiveList<N extends Listed<N>> {
  #first: N | null = null
  #last: N | null = null

  get isEmpty(): boolean {
    return this.#first === null
  }

  /** The member is in no list. */
  push(member: N): void {
    member.listedIn = this
    member.previousListed = this.#last
    if (this.#last === null) this.#first = member
    else this.#last.nextListed = member
    this.#last = member
  }

  shift(): N | null {
    const member = this.#first
    if (member !== null) this.remove(member)
    return member
  }

  /** The member is in this list. */
  remove(member: N): void {
    const next = member.nextListed
    const previous = member.previousListed
    if (previous === null) this.#first = next
    else previous.nextListed = next
    if (next === null) this.#last = previous
    else next.previousListed = previous
    member.listedIn = null
    member.nextListed = null
    member.previousListed = null
  }
}
