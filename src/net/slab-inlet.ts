/**
 * How bytes come in from sockets that were opened for our own clients: the runtime reads into one piece of
 * memory that all of them share (`onread`), instead of making a buffer and running a Readable for each read.
 * Receivers borrow it for the length of a call and copy what they keep. A socket with large reads is read
 * into separate memory, which its receiver may keep when it is full; as long as the receiver does so.
 *
 * Sharing is safe because the runtime fills the memory immediately before it calls back, and fills it only
 * from the event loop: never while a receiver is running.
 */
// The global of this name is a getter, which is too slow for every read.

import { Buffer } from 'node:buffer'
import type { OnReadOpts, Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { copyBytes, isMemoryTaken, offerMemory } from '../base/bytes/own-bytes.ts'
import { runtimeNextTick } from '../base/loop/runtime-turns.ts'

/** The runtime's own limit for one read without `onread`. */
const SLAB_BYTES = 65_536

/** A read of this size is likely to be followed by more. */
const LARGE_READ_BYTES = SLAB_BYTES / 2

/** Full reads into shared memory after a receiver did not keep separate memory, before it is asked again. */
const READS_UNTIL_NEXT_OFFER = 32

/**
 * `waiting`: not opened, or paused. `released`: an ordinary socket now. `closed`: reads on and drops the
 * bytes.
 */
type State = 'waiting' | 'open' | 'draining' | 'released' | 'closed'

/** With `onread`, the runtime has its own versions of these methods. */
const OVERRIDDEN = ['pause', 'resume', 'read'] as const

let shared: Buffer | null = null

/** One byte longer than what is read into it: so `ownBytes` copies even from a full read. */
const createShared = (): Buffer => Buffer.allocUnsafeSlow(SLAB_BYTES + 1).subarray(0, SLAB_BYTES)

/** The first `length` bytes, lent for the length of the call. */
type Receive = (memory: Buffer, length: number) => void

/** Shared by all inlets without a backlog; never added to. */
const NO_BACKLOG: Buffer[] = []

/** Those of sockets that were handed over as ordinary ones. */
const released = new WeakMap<Duplex, SlabInlet>()

/**
 * The inlet of a socket that was handed over and comes back unused, as a tunnel does that a proxy has opened.
 * Bytes that have come since are its backlog. Null for other sockets, which are read through their stream.
 */
export function reclaimInlet(socket: Duplex): SlabInlet | null {
  const inlet = released.get(socket)
  const isUsed =
    socket.destroyed ||
    socket.readableEnded ||
    socket.readableFlowing === true ||
    socket.listenerCount('data') + socket.listenerCount('readable') > 0
  if (inlet === undefined || isUsed) return null
  released.delete(socket)
  inlet.reclaim()
  return inlet
}

export class SlabInlet {
  #state: State = 'waiting'
  #socket: Socket | null = null
  #receive: Receive | null = null
  #onDrained: (() => void) | null = null
  /** Over TLS some records still come after a pause. */
  #backlog: Buffer[] = NO_BACKLOG
  #own: Buffer | null = null
  /** The read before was large. */
  #wasLarge = false
  /** Large reads until separate memory is tried. */
  #untilOffer = 0
  /** The memory that the next read should go to, if it is to change. */
  #next: Buffer | null = null

  /** For the options of `net.connect` or `tls.connect`. */
  options(): OnReadOpts {
    shared ??= createShared()
    this.#next = shared
    return {
      buffer: () => this.#takeNext() as Uint8Array,
      callback: (bytes, memory) => this.#onRead(bytes, memory as Buffer),
    }
  }

  /**
   * False if the socket can only be read through its stream: it is destroyed, and another must be opened.
   * Libraries that mock servers (msw 3) take over each socket as it connects, replace its `_read`, and push
   * the bytes into its stream. The handle of such a socket is connected to nothing.
   */
  bind(socket: Socket): boolean {
    if (Object.hasOwn(socket, '_read')) {
      socket.on('error', () => {}).destroy()
      return false
    }
    this.#socket = socket
    return true
  }

  /** Bytes were read that `receive` has not had. */
  get hasBacklog(): boolean {
    return this.#backlog.length > 0 || this.#onDrained !== null
  }

  /** Starts reading. Every read comes to `receive`. */
  open(receive: Receive): void {
    this.#receive = receive
    this.resume()
  }

  /** One more read may come, which goes to the backlog. */
  pause(): void {
    this.#state = 'waiting'
  }

  /** The backlog is delivered in another tick. */
  resume(): void {
    if (this.#state !== 'waiting') return
    if (this.#backlog.length === 0 && this.#onDrained === null) {
      this.#start()
      return
    }
    this.#state = 'draining'
    runtimeNextTick(() => this.#drain())
  }

  /** Calls back when the backlog is empty. */
  whenDrained(callback: () => void): void {
    this.#onDrained = callback
  }

  /** Turns the socket into an ordinary one, to be read through its stream, beginning with the backlog. */
  release(): void {
    const socket = this.#socket!
    const backlog = this.#backlog
    this.#state = 'released'
    this.#forget()
    // The bytes read so far bypassed the stream, which still waits for the first read that it asked for and
    // asks for no other until then. An empty chunk answers it.
    socket.push('')
    // The runtime's versions stop reading as soon as the socket is paused, and start when it is read from. An
    // ordinary socket leaves both to its stream, which knows how much it holds.
    for (const name of OVERRIDDEN) {
      Object.defineProperty(socket, name, {
        value: Readable.prototype[name],
        configurable: true,
        writable: true,
      })
    }
    for (let i = backlog.length - 1; i >= 0; i--) socket.unshift(backlog[i]!)
    released.set(socket, this)
  }

  reclaim(): void {
    const socket = this.#socket!
    const length = socket.readableLength
    // Without the length, Node 26 reads only the first of several chunks.
    if (length > 0) this.#backlog = [socket.read(length)]
    this.#state = 'waiting'
  }

  /** Drops the backlog and everything that still comes. */
  close(): void {
    this.#state = 'closed'
    this.#forget()
  }

  /**
   * Not with `resume`: a stream that has never flowed or paused is as good as new when it is handed over. The
   * socket may have methods from an earlier `release`, and keeps them: without a property that it had, an
   * object is slower in all it does.
   */
  #start(): void {
    this.#state = 'open'
    const socket = this.#socket!
    Object.getPrototypeOf(socket).read.call(socket, 0)
  }

  #forget(): void {
    this.#backlog = NO_BACKLOG
    this.#receive = null
    this.#onDrained = null
  }

  /** Called after each read; undefined keeps the memory. */
  #takeNext(): Buffer | undefined {
    const next = this.#next
    if (next === null) return undefined
    this.#next = null
    this.#own = next === shared ? null : next
    return next
  }

  /** False stops reading. */
  #onRead(length: number, memory: Buffer): boolean {
    switch (this.#state) {
      case 'open':
        if (memory === this.#own) this.#lendOwn(length, memory)
        else this.#lendShared(length, memory)
        return (this.#state as State) !== 'waiting'
      case 'released':
        return this.#socket!.push(copyBytes(memory, 0, length))
      case 'closed':
        // Bytes left in the kernel would make it reset the connection, and the peer lose our last writes.
        return true
      default:
        if (this.#backlog === NO_BACKLOG) this.#backlog = []
        this.#backlog.push(copyBytes(memory, 0, length))
        return false
    }
  }

  /** Most responses fit into one read, so separate memory waits for the second large one in a row. */
  #lendShared(length: number, memory: Buffer): void {
    const isLarge = length >= LARGE_READ_BYTES
    if (isLarge && this.#wasLarge && --this.#untilOffer < 0) {
      this.#untilOffer = 0
      this.#next = Buffer.allocUnsafeSlow(SLAB_BYTES)
    }
    this.#wasLarge = isLarge
    this.#receive!(memory, length)
  }

  /**
   * A receiver that copies what it needs is better served by shared memory, which the processor has at hand.
   */
  #lendOwn(length: number, memory: Buffer): void {
    if (length < SLAB_BYTES) {
      if (length < LARGE_READ_BYTES) this.#next = shared
      this.#receive!(memory, length)
      return
    }
    offerMemory(memory)
    // Before the receiver can throw: what it has kept is not read into again.
    this.#next = shared
    this.#receive!(memory, length)
    if (isMemoryTaken(memory)) this.#next = Buffer.allocUnsafeSlow(SLAB_BYTES)
    else this.#untilOffer = READS_UNTIL_NEXT_OFFER
  }

  #drain(): void {
    while (this.#state === 'draining') {
      const bytes = this.#backlog.shift()
      if (bytes === undefined) {
        this.#start()
        const onDrained = this.#onDrained
        this.#onDrained = null
        onDrained?.()
        return
      }
      this.#receive!(bytes, bytes.length)
    }
  }
}
