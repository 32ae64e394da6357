/** URLSearchParams as a body: the text that they have at the call, with its type, in the form of a Blob. */
export class ParamsBody {
  readonly type: string = 'application/x-www-form-urlencoded;charset=UTF-8'
  readonly size: number
  readonly #bytes: Uint8Array

  constructor(params: object) {
    this.#bytes = Buffer.from(String(params))
    this.size = this.#bytes.byteLength
  }

  stream(): Iterable<Uint8Array> {
    return [this.#bytes]
  }
}
