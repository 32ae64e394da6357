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
  readonly readableLength: number
}

/** Where streams of this runtime keep their state. */
const STATE = '_readableState'

/** What `extends Readable` would extend, but for the constructor, which does nothing. */
function withoutConstructor(base: typeof Readable): new () => Replaceable {
  function Nothing(): void {}
  Object.setPrototypeOf(Nothing, base)
  Nothing.prototype = base.prototype
  return Nothing as unknown as new () => Replaceable
}

const Unmade: new () => Replaceable = /* @__PURE__ */ withoutConstructor(Readable)

let keepsState: boolean | null = null

/** A runtime that kept the state of its streams elsewhere would never ask for it where we listen. */
function isStateKnown(): boolean {
  keepsState ??= Object.hasOwn(new Readable(), STATE)
  return keepsState
}

function itself(this: unknown, stream: object): object {
  return stream
}

/**
 * Gives a stream a state of its own in place of the one that makes it. This is a field, defined on an object that
 * is there already; `Object.defineProperty` takes as long as all else that wakes a stream up.
 */
class OwnState extends (itself as unknown as new (stream: object) => object) {
  [STATE]: unknown = undefined
}

/** A listener of any event. */
type Listener = Parameters<Readable['on']>[1]

export abstract class SleepingReadable extends Unmade {
  readonly #highWaterMark: number
  #awake = false
  /** Somebody has listened to some event. */
  #listened = false
  /**
   * Ended without ever having run, with nobody to tell: the stream says that it is over, and runs through its
   * end only when somebody starts to listen.
   */
  #sleptThrough: 'no' | 'unheard' | 'told' = 'no'

  static {
    Object.defineProperty(SleepingReadable.prototype, STATE, {
      configurable: true,
      get(this: object): unknown {
        // Somebody may look at a prototype.
        if (!(#awake in this)) return undefined
        this.#wakeUp()
        return Reflect.get(this, STATE)
      },
    })
  }

  /** @param sleeps False for one that is made at once. */
  constructor(highWaterMark: number, sleeps: boolean = isStateKnown()) {
    super()
    this.#highWaterMark = highWaterMark
    if (!sleeps) this.#wakeUp()
  }

  #wakeUp(): void {
    this.#awake = true
    new OwnState(this)
    const options: ReadableOptions = { highWaterMark: this.#highWaterMark }
    Reflect.apply(Readable, this, [coverPollution(options)])
  }

  /** The body is over and nothing more comes from it. */
  override get closed(): boolean {
    // `finished()` of later runtimes asks this first, and then looks for the end in the stream's own state.
    this.#tellEnd()
    return this.#sleptThrough !== 'no' || super.closed
  }

  /** The body was read to its end, collected, or destroyed. */
  override get destroyed(): boolean {
    return this.#sleptThrough !== 'no' || (this.#awake && super.destroyed)
  }

  /** There is, or will be, something to read. */
  override get readable(): boolean {
    return this.#sleptThrough === 'no' && super.readable
  }

  /** All of it was read or collected. */
  override get readableEnded(): boolean {
    return this.#sleptThrough !== 'no' || super.readableEnded
  }

  // What is asked while bodies are collected is answered without waking up.

  /** Something was read from the stream. */
  override get readableDidRead(): boolean {
    return this.#awake && super.readableDidRead
  }

  /** Whether data comes by itself; null until somebody has asked for it. */
  override get readableFlowing(): boolean | null {
    return this.#awake ? super.readableFlowing : null
  }

  override set readableFlowing(flowing: boolean | null) {
    super.readableFlowing = flowing
  }

  /** Bytes that are held unread before the source is paused. */
  override get readableHighWaterMark(): number {
    return this.#highWaterMark
  }

  /** Bytes that the stream holds; what has arrived before somebody streams is not in it yet. */
  override get readableLength(): number {
    return this.#awake ? super.readableLength : 0
  }

  /** Listens. Whoever listens for the end of a body that was collected is told of it, too. */
  override on(event: 'data', listener: (chunk: Buffer) => void): this
  override on(event: 'error', listener: (error: Error) => void): this
  override on(event: string | symbol, listener: Listener): this
  override on(event: string | symbol, listener: Listener): this {
    this.#listened = true
    this.#tellEnd()
    return super.on(event, listener)
  }

  /** The same as `on`. */
  override addListener(event: 'data', listener: (chunk: Buffer) => void): this
  override addListener(event: 'error', listener: (error: Error) => void): this
  override addListener(event: string | symbol, listener: Listener): this
  override addListener(event: string | symbol, listener: Listener): this {
    return this.on(event, listener)
  }

  /** Listens before all others. */
  override prependListener(event: 'data', listener: (chunk: Buffer) => void): this
  override prependListener(event: 'error', listener: (error: Error) => void): this
  override prependListener(event: string | symbol, listener: Listener): this
  override prependListener(event: string | symbol, listener: Listener): this {
    this.#listened = true
    this.#tellEnd()
    return super.prependListener(event, listener)
  }

  /** Whether somebody may be told of events. */
  protected isListenedTo(): boolean {
    return this.#listened
  }

  /** Ends a stream that never ran: it says `end` and `close` like any other, if there is somebody to hear it. */
  protected endAsleep(hasReaders: boolean): void {
    this.#sleptThrough = 'unheard'
    const isHeard = this.#listened && (this.listenerCount('end') > 0 || this.listenerCount('close') > 0)
    if (isHeard || hasReaders) this.#tellEnd()
  }

  #tellEnd(): void {
    if (this.#sleptThrough !== 'unheard') return
    this.#sleptThrough = 'told'
    this.push(null)
    this.read()
  }
}
