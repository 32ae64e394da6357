/**
 * A request body in its coding, made while it is read: backpressure reaches the caller's body, and nothing of
 * that is read before a connection wants it. Until then the request can be sent again by whoever is further
 * out.
 */
import { pipeline, Readable, type Transform } from 'node:stream'
import { badPiece, isPiece } from '../../request/body-piece.ts'
import { cutShort, destroyBodyOf } from '../../request/body-source.ts'
import { watchBody } from '../../request/waiting-body.ts'

type Pieces = Iterable<unknown> | AsyncIterable<unknown>

export class CompressedBody extends Readable {
  readonly #given: Readable | Pieces
  readonly #open: () => Transform
  #encoder: Transform | null = null

  constructor(given: Readable | Pieces, open: () => Transform) {
    super()
    this.#given = given
    this.#open = open
    watchBody(given, (error) => void this.destroy(error as Error))
  }

  override _read(): void {
    if (this.#encoder === null) this.#start()
    else this.#encoder.resume()
  }

  #start(): void {
    const given = this.#given
    const encoder = this.#open()
    this.#encoder = encoder
    encoder.on('data', (chunk) => {
      if (!this.push(chunk)) encoder.pause()
    })
    encoder.on('end', () => {
      const error = cutShort(given)
      if (error === null) this.push(null)
      else this.destroy(error)
    })
    pipeline(given instanceof Readable ? given : Readable.from(given), checked, encoder, (error) => {
      if (error) this.destroy(error)
    })
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    destroyBodyOf({ body: this.#given }, error)
    this.#encoder?.destroy()
    callback(error)
  }
}

/** An encoder throws at what it cannot take where nobody catches it: in a later turn of the source. */
async function* checked(pieces: AsyncIterable<unknown>): AsyncGenerator<string | Uint8Array> {
  for await (const piece of pieces) {
    if (!isPiece(piece)) throw badPiece(piece)
    yield piece
  }
}
