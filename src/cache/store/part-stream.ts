/** A Writable that stores a body in parts while it arrives, and the response when it has ended. */
import { Buffer } from 'node:buffer'
import { Writable } from 'node:stream'
import type { RemoteAccess } from './remote-access.ts'

/** A shorter body is stored with the head, and needs no part. */
const PART_SIZE = 256 * 1024

export interface StoredParts {
  /** The keys of all parts but the last one, which is with the head. */
  readonly names: readonly string[]
  /** Bytes of the whole body. */
  readonly size: number
}

export class PartStream extends Writable {
  readonly #remote: RemoteAccess
  readonly #name: string
  readonly #life: number
  readonly #limit: number
  readonly #onEnd: (parts: StoredParts, rest: Buffer) => Promise<void>
  readonly #names: string[] = []
  #pending: Buffer[] = []
  #pendingSize = 0
  #size = 0
  #isStored = false

  /** `life` is how long the parts are kept, in milliseconds. */
  constructor(
    remote: RemoteAccess,
    name: string,
    life: number,
    limit: number,
    onEnd: (parts: StoredParts, rest: Buffer) => Promise<void>,
  ) {
    super()
    this.#remote = remote
    this.#name = name
    this.#life = life
    this.#limit = limit
    this.#onEnd = onEnd
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#size += chunk.length
    this.#pending.push(chunk)
    this.#pendingSize += chunk.length
    if (this.#isTooLong) this.#pending = []
    if (this.#isTooLong || this.#pendingSize < PART_SIZE) done()
    else this.#writePart().then(() => done(), done)
  }

  get #isTooLong(): boolean {
    return this.#size > this.#limit
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#finish().then(() => done(), done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // What cannot be removed now is forgotten with its time.
    if (!this.#isStored && this.#names.length > 0) this.#remote.delete(this.#names).catch(() => {})
    done(error)
  }

  async #finish(): Promise<void> {
    if (this.#isTooLong) return
    await this.#onEnd({ names: this.#names, size: this.#size }, Buffer.concat(this.#pending))
    this.#isStored = true
  }

  async #writePart(): Promise<void> {
    const name = `${this.#name}:${this.#names.length}`
    const part = Buffer.concat(this.#pending)
    this.#pending = []
    this.#pendingSize = 0
    this.#names.push(name)
    await this.#remote.set(name, part, this.#life)
  }
}
