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
  /** The stream has what arrived before somebody read it, and gets what comes. */
  #running = false
  /** Something was read that did not go through the stream. */
  #wasRead = false
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

  /** Something was read, whether or not the stream had to run for it. */
  override get readableDidRead(): boolean {
    return this.#wasRead || (this.#awake && super.readableDidRead)
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

  /** Reads from the running stream. */
  override read(size?: number): ReturnType<Readable['read']> {
    this.run()
    return super.read(size)
  }

  /** Lets the data come by itself. */
  override resume(): this {
    this.run()
    return super.resume()
  }

  /** Has the data come as text. */
  override setEncoding(encoding: BufferEncoding): this {
    this.run()
    return super.setEncoding(encoding)
  }

  /** Adds to the end of the running stream. */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    this.run()
    return super.push(chunk, encoding)
  }

  /** Puts something back to the front of the running stream. */
  override unshift(chunk: unknown, encoding?: BufferEncoding): void {
    this.run()
    // biome-ignore lint/correctness/noVoidTypeReturn: the runtime returns what its types do not declare.
    return super.unshift(chunk, encoding)
  }

  /** Whether whoever reads gets what arrives from the stream. */
  protected get isRunning(): boolean {
    return this.#running
  }

  /**
   * Makes it a Readable that all that has arrived was pushed to. Everything that does something to the data begins with
   * this. `_read` would be too late: a stream that has ended ends with a `read(0)`, and what is put back stands before
   * all else.
   */
  protected run(): void {
    if (this.#running) return
    this.#running = true
    this.onRun()
  }

  /** Something was taken without the stream. */
  protected noteRead(): void {
    this.#wasRead = true
  }

  /** Pushes what has arrived. */
  protected onRun(): void {}

  /** Listens. Whoever listens for the end of a body that was collected is told of it, too. */
  override on(event: 'data', listener: (chunk: Buffer) => void): this
  override on(event: 'error', listener: (error: Error) => void): this
  override on(event: string | symbol, listener: Listener): this
  override on(event: string | symbol, listener: Listener): this {
    this.#onListener(event)
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
    this.#onListener(event)
    return super.prependListener(event, listener)
  }

  #onListener(event: string | symbol): void {
    this.#listened = true
    this.#tellEnd()
    if (event === 'data' || event === 'readable') this.run()
  }

  /** Whether somebody may be told of events. */
  protected isListenedTo(): boolean {
    return this.#listened
  }

  /** Ends a stream that never ran: it says `end` and `close` like any other, if there is somebody to hear it. */
  protected endAsleep(): void {
    this.#sleptThrough = 'unheard'
    const isHeard = this.#listened && (this.listenerCount('end') > 0 || this.listenerCount('close') > 0)
    if (isHeard || this.#running) this.#tellEnd()
  }

  #tellEnd(): void {
    if (this.#sleptThrough !== 'unheard') return
    this.#sleptThrough = 'told'
    this.push(null)
    this.read()
  }
}
