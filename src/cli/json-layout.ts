/**
 * JSON with line breaks and indentation, as it arrives. Tokens are copied, not evaluated: numbers beyond the
 * precision of the runtime stay unchanged. What does not begin like an object or an array stays as it is.
 */

/** A megabyte of opening brackets must not become a triangle of spaces. */
const DEEPEST = 20

const WORD = /[^[\]{},:"]/

export class JsonLayout {
  #depth = 0
  /** The last sign that was shown, and whether a blank follows it. */
  #last = ''
  #isBlank = false
  #place: 'start' | 'between' | 'opened' | 'string' | 'escape' | 'plain' = 'start'

  add(text: string): string {
    if (this.#place === 'plain') return text
    let shown = ''
    for (let at = 0; at < text.length; at++) {
      shown += this.#sign(text[at]!)
      if ((this.#place as string) === 'plain') return shown + text.slice(at + 1)
    }
    return shown
  }

  end(): string {
    return this.#place === 'opened' ? '\n' : ''
  }

  #sign(sign: string): string {
    if (this.#place === 'string' || this.#place === 'escape') {
      const ends = this.#place === 'string' && sign === '"'
      this.#place = ends ? 'between' : this.#place === 'string' && sign === '\\' ? 'escape' : 'string'
      return sign
    }
    if (/\s/.test(sign)) {
      this.#isBlank = true
      return this.#depth === 0 && this.#place === 'between' && sign === '\n' ? sign : ''
    }
    // There are none between two words of JSON; but perhaps it is none.
    const blank = this.#isBlank && WORD.test(this.#last) && WORD.test(sign) ? ' ' : ''
    this.#isBlank = false
    this.#last = sign
    const isClosing = sign === '}' || sign === ']'
    const before = this.#place === 'opened' && !isClosing ? this.#line() : ''
    const wasOpened = this.#place === 'opened'
    if (this.#place === 'start' && sign !== '{' && sign !== '[') {
      this.#place = 'plain'
      return sign
    }
    this.#place = sign === '"' ? 'string' : 'between'
    if (sign === '{' || sign === '[') {
      this.#depth++
      this.#place = 'opened'
    } else if (isClosing) {
      this.#depth = Math.max(0, this.#depth - 1)
      return wasOpened ? sign : this.#line() + sign
    }
    if (sign === ',') return `${before},${this.#line()}`
    return before + blank + (sign === ':' ? ': ' : sign)
  }

  #line(): string {
    return `\n${'  '.repeat(Math.min(this.#depth, DEEPEST))}`
  }
}
