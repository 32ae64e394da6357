/**
 * A Readable that does not run until it is streamed: running one costs more than ten times as much as
 * constructing it, and most bodies are collected without a running stream. Until then it buffers nothing, and
 * the subclass, which owns the bytes and the state, answers what a stream would derive from its buffer.
 */
import { Readable, type ReadableOptions } from 'node:stream'
import { ownBytes } from '../base/bytes/own-bytes.ts'
import { PieceLoad } from '../base/bytes/piece-load.ts'
import { runtimeNextTick } from '../base/loop/runtime-turns.ts'

/**
 * In the runtime these are accessors, which a subclass may override; the types declare them as properties.
 */
interface ReadableAccessors extends Readable {
  readonly closed: boolean
  destroyed: boolean
  readable: boolean
  readonly readableDidRead: boolean
  readonly readableEnded: boolean
  readonly readableLength: number
}

const AccessorReadable: new (options?: ReadableOptions) => ReadableAccessors = Readable

/** What a pipe writes to. Streams of other libraries may lack the optional members. */
export type Destination = NodeJS.WritableStream & { destroyed?: boolean; writableNeedDrain?: boolean }

/** A listener of any event. */
type Listener = Parameters<Readable['on']>[1]

export abstract class IdleReadable extends AccessorReadable {
  /** Whether the stream has the bytes. It may start in any state of the body, even beside a collection. */
  #isRunning = false
  /** Bytes were taken without the stream. */
  #wasRead = false
  /**
   * A listener was added at some time. If not, `listenerCount` need not be called at the end of every body.
   */
  #wasListenedTo = false
  /** Null before the stream has the bytes. */
  #load: PieceLoad | null = null
  /** Gets the bytes at the end of the tick, unless the body is used otherwise before. */
  #destination: Destination | null = null

  /** Bytes that are kept for a consumer while the stream does not run. */
  protected abstract get heldLength(): number

  /** Consumed without running, so that the stream does not know that it is over. */
  protected abstract get isOver(): boolean

  /** Makes the stream emit `end` and `close` if the body {@link isOver} and it has not done so yet. */
  protected abstract announceEnd(): void

  /** Something was taken from a crowded stream. */
  protected abstract onEased(): void

  /** The stream begins to run: pushes what has arrived. */
  protected abstract onRun(): void

  /** All bytes are there, at least one, and nobody has taken any. */
  protected abstract get isWhole(): boolean

  /** Writes all bytes and ends the destination. Returns false if there is more, which the stream has to pipe. */
  protected abstract handOver(destination: Destination): boolean

  protected get isRunning(): boolean {
    return this.#isRunning
  }

  /**
   * Makes this a Readable to which everything that has arrived was pushed. All methods that act on the data
   * begin with this. `_read` would be too late: a stream that has ended ends with a `read(0)`, and `unshift`
   * puts its chunk before all others.
   */
  protected run(): void {
    if (this.#isRunning) return
    this.beginPipe()
    if (this.#isRunning) return
    this.#isRunning = true
    this.#load = new PieceLoad()
    this.onRun()
  }

  /** Notes that bytes were taken without the stream. */
  protected noteRead(): void {
    this.#wasRead = true
  }

  /** The body is over, and no event follows. */
  override get closed(): boolean {
    // `finished()` of Node 22 and later asks this first, and then expects to find the end in the stream's own
    // state.
    this.announceEnd()
    return this.isOver || super.closed
  }

  /** The body was read to its end, collected, or destroyed. */
  override get destroyed(): boolean {
    return this.isOver || super.destroyed
  }

  /** There is, or will be, something to read. */
  override get readable(): boolean {
    return !this.isOver && super.readable
  }

  /** All of it was read or collected. */
  override get readableEnded(): boolean {
    return this.isOver || super.readableEnded
  }

  /** Something was read, whether or not the stream had to run for it. */
  override get readableDidRead(): boolean {
    return this.#wasRead || super.readableDidRead
  }

  /** What can be read at once: bytes, or characters of the encoding. */
  override get readableLength(): number {
    return this.#isRunning ? super.readableLength : this.heldLength
  }

  /** So many small pieces wait that no more are requested until some are taken. */
  protected get isCrowded(): boolean {
    return this.#load?.isHeavy(super.readableLength) === true
  }

  /** Reads from the running stream. */
  override read(size?: number): ReturnType<Readable['read']> {
    this.run()
    const isCrowded = this.isCrowded
    const chunk = super.read(size)
    // The stream itself reads 0 bytes to request more. Any other read takes what is there, or needs more.
    if (isCrowded && size !== 0) this.onEased()
    // The runtime joins small chunks in a pool that is shared with other data, and cuts pieces off larger
    // ones.
    return chunk instanceof Uint8Array ? ownBytes(chunk as Buffer, 0, chunk.length) : chunk
  }

  /** Lets the data flow. */
  override resume(): this {
    this.run()
    return super.resume()
  }

  /** Stops the flow. */
  override pause(): this {
    this.beginPipe()
    return super.pause()
  }

  /**
   * Writes all data to another stream. A stream begins to flow at the end of the tick; a body that is there as
   * a whole is handed over then, without a stream that runs.
   */
  override pipe<T extends NodeJS.WritableStream>(destination: T, options?: { end?: boolean }): T {
    this.beginPipe()
    if (options !== undefined || !this.isWhole || !isPlain(destination))
      return super.pipe(destination, options)
    this.#destination = destination
    runtimeNextTick(() => this.#endTick())
    return destination
  }

  /** Takes a destination back. */
  override unpipe(destination?: NodeJS.WritableStream): this {
    this.beginPipe()
    return super.unpipe(destination)
  }

  /** Before the body is used otherwise: the stream pipes to a destination that waits for the end of the tick. */
  protected beginPipe(): void {
    const destination = this.#destination
    if (destination === null) return
    this.#destination = null
    // A body that failed must not end the destination, and one that is gone must not stop the body.
    if (!this.destroyed && !isGone(destination)) super.pipe(destination)
  }

  #endTick(): void {
    const destination = this.#destination
    if (destination === null) return
    // One that is gone gets the bytes all the same, for the body is to end.
    const isReady =
      isGone(destination) || (destination.writableNeedDrain !== true && !this.#isHeard(destination))
    if (this.destroyed || !isReady || !this.handOver(destination)) this.beginPipe()
    this.#destination = null
  }

  /** Somebody listens for what only a stream emits. */
  #isHeard(destination: Destination): boolean {
    return this.isEndHeard || destination.listenerCount('unpipe') > 0
  }

  /** Makes the data text; ignored for an unknown encoding. */
  override setEncoding(encoding: BufferEncoding): this {
    if (!Buffer.isEncoding(encoding)) return this
    this.run()
    return super.setEncoding(encoding)
  }

  /** Adds to the end of the running stream. */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    this.run()
    if (chunk !== null && chunk !== undefined) this.#load!.add(chunk, super.readableLength)
    return super.push(chunk, encoding) && !this.isCrowded
  }

  /** Adds to the front of the running stream. */
  override unshift(chunk: unknown, encoding?: BufferEncoding): void {
    this.run()
    // biome-ignore lint/correctness/noVoidTypeReturn: the runtime returns what its types do not declare.
    return super.unshift(chunk, encoding)
  }

  /** Listens. A listener that comes after a body was collected gets its `end` and `close`, too. */
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

  /** Whether `end` or `close` has a listener. */
  protected get isEndHeard(): boolean {
    return this.#wasListenedTo && (this.listenerCount('end') > 0 || this.listenerCount('close') > 0)
  }

  #onListener(event: string | symbol): void {
    this.#wasListenedTo = true
    this.announceEnd()
    if (event === 'data' || event === 'readable') this.run()
  }
}

/** Whether a destination is ended, and nobody hears that it is piped to. */
function isPlain(destination: NodeJS.WritableStream): boolean {
  if (destination === process.stdout || destination === process.stderr) return false
  // Streams of other libraries may lack the method.
  return destination.listenerCount?.('pipe') === 0 && destination.listenerCount('unpipe') === 0
}

/** Whether a destination is destroyed. */
export function isGone(destination: Destination): boolean {
  return destination.destroyed === true
}
