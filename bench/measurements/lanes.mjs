// The closed loop: each lane sends its next request once it has read the response to its last one.
import { setImmediate as turn } from 'node:timers/promises'
import { checkBody } from './session.mjs'

/** After so many requests a lane lets the event loop run, where no answer comes from a socket. */
const REQUESTS_PER_TURN = 100

export class Lanes {
  /** Requests that were answered. */
  count = 0
  #session
  #path
  #bytes
  #isInProcess
  #stopped = false
  #limit = Number.POSITIVE_INFINITY
  #started = 0
  #running = 0
  #finished = Promise.withResolvers?.() ?? withResolvers()

  constructor(session, path, bytes, isInProcess = false) {
    this.#isInProcess = isInProcess
    this.#session = session
    this.#path = path
    this.#bytes = bytes
  }

  /** Rejects when a request fails; resolves when all lanes have finished. */
  run(lanes, limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit
    this.#running = lanes
    for (let i = 0; i < lanes; i++) {
      if (this.#session.send === undefined) this.#callbackLane()
      else this.#promiseLane().catch(this.#finished.reject)
    }
    return this.#finished.promise
  }

  stop() {
    this.#stopped = true
  }

  #wantsMore() {
    return !this.#stopped && this.#started++ < this.#limit
  }

  async #promiseLane() {
    while (this.#wantsMore()) {
      checkBody(await this.#session.send(this.#path), this.#bytes)
      this.count++
      if (this.#isInProcess && this.count % REQUESTS_PER_TURN === 0) await turn()
    }
    this.#leave()
  }

  #callbackLane() {
    const next = () => {
      if (this.#wantsMore()) this.#session.start(this.#path, done)
      else this.#leave()
    }
    const done = (error, text) => {
      if (error) return this.#finished.reject(error)
      checkBody(text, this.#bytes)
      this.count++
      next()
    }
    next()
  }

  #leave() {
    if (--this.#running === 0) this.#finished.resolve()
  }
}

function withResolvers() {
  const parts = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}
