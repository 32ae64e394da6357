/**
 * A Readable whose machinery is made when somebody first uses it as a stream. Most bodies are collected without, and
 * the machinery takes more memory than the rest of a small response.
 *
 * Constructors of the old style call `Readable` on an object that is there already (Node's documentation has it
 * under "pre-ES6 style constructors"). So does this one, only later: all that a stream does begins with its state, and
 * the state is what makes it.
 */
import { Readable, type ReadableOptions } from 'node:stream'
import { coverPollution } from '../base/own-options.ts'

/** In the runtime these are accessors, which a subclass may replace, unlike the properties of the types. */
interface Replaceable extends Readable {
  readonly closed: boolean
  destroyed: boolean
  readable: boolean
  readonly readableDidRead: boolean
  readonly readableEnded: boolean
  readableFlowing: boolean | null
  readonly readableHighWaterMark: number
}

type Constructor<T> = new (highWaterMark: number, sleeps?: boolean) => T

/** Where streams of this runtime keep their state. */
const STATE = '_readableState'

/** What `extends Readable` would extend, but for the constructor, which does nothing. */
function withoutConstructor(base: typeof Readable): new () => Replaceable {
  function Nothing(): void {}
  Object.setPrototypeOf(Nothing, base)
  Nothing.prototype = base.prototype
  return Nothing as unknown as new () => Replaceable
}

const Unmade = /* @__PURE__ */ withoutConstructor(Readable)

let keepsState: boolean | null = null

/** A runtime that kept the state of its streams elsewhere would never ask for it where we listen. */
function isStateKnown(): boolean {
  keepsState ??= Object.hasOwn(new Readable(), STATE)
  return keepsState
}

class Sleeper extends Unmade {
  readonly #highWaterMark: number
  #awake = false

  constructor(highWaterMark: number, sleeps = isStateKnown()) {
    super()
    this.#highWaterMark = highWaterMark
    if (!sleeps) this.#wake()
  }

  /** Only until there is one: from then on it is a property of the stream itself. */
  get [STATE](): unknown {
    // Somebody may look at a prototype.
    if (!(#awake in this) || this.#awake) return undefined
    this.#wake()
    return (this as { readonly [STATE]: unknown })[STATE]
  }

  set [STATE](value: unknown) {
    Object.defineProperty(this, STATE, { value, writable: true, enumerable: true, configurable: true })
  }

  #wake(): void {
    this.#awake = true
    const options: ReadableOptions = { highWaterMark: this.#highWaterMark }
    Reflect.apply(Readable, this, [coverPollution(options)])
  }

  // What is asked while bodies are collected, answered without waking up.

  override get destroyed(): boolean {
    return this.#awake && super.destroyed
  }

  override get readableDidRead(): boolean {
    return this.#awake && super.readableDidRead
  }

  override get readableFlowing(): boolean | null {
    return this.#awake ? super.readableFlowing : null
  }

  override set readableFlowing(flowing: boolean | null) {
    super.readableFlowing = flowing
  }

  override get readableHighWaterMark(): number {
    return this.#highWaterMark
  }
}

/** `sleeps`: false for one that is made at once. */
export const SleepingReadable: Constructor<Replaceable> = Sleeper
