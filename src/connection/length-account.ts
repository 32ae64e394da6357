/**
 * Holds a streamed request body against the length that its head announced. With `strictContentLength` a difference ends
 * the request; otherwise the caller vouches for the source, and gets a warning.
 */
import { RequestContentLengthMismatchError } from '../errors.ts'

/** The error that ends the request; null where a warning is enough. */
export function lengthDiffers(strict: boolean): Error | null {
  const error = new RequestContentLengthMismatchError()
  if (strict) return error
  process.emitWarning(error)
  return null
}

export class LengthAccount {
  readonly #announced: number | null
  readonly #strict: boolean
  #sent = 0

  /** `announced`: null when the head names no length. */
  constructor(announced: number | null, strict: boolean) {
    this.#announced = announced
    this.#strict = strict
  }

  /** Nothing was sent so far. */
  get isEmpty(): boolean {
    return this.#sent === 0
  }

  /** Before a piece is sent. Returns the error if it must not be. */
  add(bytes: number): Error | null {
    const sent = this.#sent + bytes
    if (this.#announced !== null && sent > this.#announced) {
      const error = lengthDiffers(this.#strict)
      if (error !== null) return error
    }
    this.#sent = sent
    return null
  }

  /** Before the end is sent. Returns the error if too little was. */
  end(): Error | null {
    return this.#announced === null || this.#sent === this.#announced ? null : lengthDiffers(this.#strict)
  }
}
