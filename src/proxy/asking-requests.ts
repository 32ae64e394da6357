/** The requests of an agent that wait for an answer of the caller's functions: no dispatcher has them meanwhile. */

interface Asking {
  giveUp(error: Error): void
}

export class AskingRequests {
  readonly #requests = new Set<Asking>()
  #whenEmpty: (() => void) | null = null

  add(request: Asking): void {
    this.#requests.add(request)
  }

  delete(request: Asking): void {
    this.#requests.delete(request)
    if (this.#requests.size > 0) return
    const done = this.#whenEmpty
    this.#whenEmpty = null
    done?.()
  }

  whenEmpty(done: () => void): void {
    if (this.#requests.size === 0) done()
    else this.#whenEmpty = done
  }

  giveUp(error: Error): void {
    for (const request of [...this.#requests]) request.giveUp(error)
  }
}
