// First in, first out, for responses that arrive in the order of the requests.

/** Number of settled items at the front that justifies copying the rest. */
const COMPACT_AT = 1024

export class Fifo {
  #items = []
  #first = 0

  push(item) {
    this.#items.push(item)
  }

  shift() {
    const item = this.#items[this.#first++]
    if (this.#first === this.#items.length) {
      this.#items = []
      this.#first = 0
    } else if (this.#first === COMPACT_AT) {
      this.#items = this.#items.slice(COMPACT_AT)
      this.#first = 0
    }
    return item
  }
}
