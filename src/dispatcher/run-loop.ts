/**
 * The loop of a client and of a pool: whenever something may have changed, they give out the requests that
 * wait, and then check whether they are done. A loop that is entered again while it runs does one more round.
 */
export abstract class RunLoop {
  #running: 'no' | 'yes' | 'again' = 'no'

  /** Gives out what can be given out now. */
  protected abstract dispatchQueued(): void
  /** Checks whether there is room again, or nothing left to do. */
  protected abstract onSettledDown(): void
  /** Code of ours threw and nothing else is to blame: ends what cannot go on, so that the rest can. */
  protected abstract onBroken(error: Error): void

  /** Never throws: its callers have nothing to do with what goes wrong in here. */
  protected run(): void {
    if (this.#running !== 'no') {
      this.#running = 'again'
      return
    }
    try {
      do {
        this.#running = 'yes'
        this.dispatchQueued()
      } while (this.#running === ('again' as string))
    } catch (error) {
      this.onBroken(error as Error)
    }
    this.#running = 'no'
    this.settleDown()
  }

  /** Only the check, without giving anything out. Never throws. */
  protected settleDown(): void {
    try {
      this.onSettledDown()
    } catch (error) {
      this.onBroken(error as Error)
    }
  }

  // Methods, because a closure in run() would allocate a context on every call, even on paths that never
  // create it.

  protected runLater(): void {
    queueMicrotask(() => this.run())
  }

  protected settleDownLater(): void {
    queueMicrotask(() => this.settleDown())
  }
}
