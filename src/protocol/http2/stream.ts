/**
 * One stream: its state, its two windows, the body it has to send, and the response it expects. The members
 * marked internal belong to the files of this folder; the owner reads `id`, `sink`, `queue.bytes` and
 * `isClosed`. Decides nothing.
 *
 * It has many fields on purpose: each request has a stream, and parts in separate objects would cost it an
 * allocation each.
 */
import type { Linked, LinkedList } from '../../base/collection/linked-list.ts'
import { MAX_WINDOW } from './constants.ts'
import { ReceiveWindow } from './flow-window.ts'
import { NO_LENGTH } from './message.ts'
import { SendQueue } from './send-queue.ts'
import type { StreamSink } from './stream-sink.ts'
import {
  HALF_CLOSED_LOCAL,
  HALF_CLOSED_REMOTE,
  IDLE,
  isClosed,
  isState,
  nextState,
  OPEN,
  type StreamInput,
  type StreamOutcome,
  type StreamState,
} from './stream-state.ts'

export class Stream implements Linked<Stream> {
  readonly id: number
  /** Gets the callbacks about this stream. */
  readonly sink: StreamSink
  /** @internal */
  readonly method: string
  /** @internal */
  state: StreamState = IDLE
  /**
   * @internal The part of the response that comes next (RFC 9113 §8.1, §8.5). `tunnel`: after a 2xx to
   * CONNECT, DATA is the tunnel's bytes, and no header block may follow.
   */
  phase: 'head' | 'content' | 'tunnel' = 'head'
  /**
   * @internal The end of this stream was reported (`onEnd`, `onReset`), or the caller gave it up (`reset`).
   * Not a state: it can come before the stream is closed (the upload goes on after the response) or after
   * (callbacks of the frame that closed it are still under way).
   */
  isSettled = false
  /**
   * @internal The bytes that may still be sent. Below zero after the peer has lowered
   * SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113 §6.9.2).
   */
  sendWindow: number
  /** @internal */
  readonly receiveWindow: ReceiveWindow
  /** The bytes of the body that have not left. */
  readonly queue: SendQueue
  /** @internal The caller has given its last byte; END_STREAM follows the queue. */
  hasAllToSend: boolean
  /** @internal Sent after the queue instead of an empty DATA frame with END_STREAM. */
  trailers: readonly string[] | null = null
  /** @internal Identifies its HEADERS to the writer. */
  head = 0
  /** @internal `send` returned false, so `onWritable` is owed. */
  isHeldBack = false
  /** @internal One of the scheduler's lists. */
  listedIn: LinkedList<Stream> | null = null
  /** @internal */
  next: Stream | null = null
  /** @internal */
  previous: Stream | null = null
  /** @internal Content bytes that the head announced, or NO_LENGTH. */
  expectedLength: number = NO_LENGTH
  /** @internal */
  receivedLength = 0
  /** @internal Since `interimsSince`; not 0 if any has come. */
  interimHeads = 0
  /** @internal The window of the meter in which they were counted. */
  interimsSince = 0

  constructor(
    id: number,
    sink: StreamSink,
    method: string,
    endStream: boolean,
    initialSendWindow: number,
    initialReceiveWindow: number,
  ) {
    this.id = id
    this.sink = sink
    this.method = method
    this.sendWindow = initialSendWindow
    this.receiveWindow = new ReceiveWindow(initialReceiveWindow, initialReceiveWindow)
    this.queue = endStream ? SendQueue.NONE : new SendQueue()
    this.hasAllToSend = endStream
  }

  /** @internal Moves to the next state if the table has one; returns its verdict. */
  advance(input: StreamInput): StreamOutcome {
    const outcome = nextState(this.state, input)
    if (isState(outcome)) this.state = outcome
    return outcome
  }

  /** @internal False when the window would pass 2^31-1, which is the peer's error (RFC 9113 §6.9.1). */
  shiftSendWindow(delta: number): boolean {
    if (this.sendWindow + delta > MAX_WINDOW) return false
    this.sendWindow += delta
    return true
  }

  /** Nothing more can be sent or received on it. */
  get isClosed(): boolean {
    return isClosed(this.state)
  }

  /** Our side is not ended and not reset. */
  get maySend(): boolean {
    return this.state === OPEN || this.state === HALF_CLOSED_REMOTE
  }

  /** The peer has neither ended nor reset it. */
  get mayReceive(): boolean {
    return this.state === OPEN || this.state === HALF_CLOSED_LOCAL
  }
}
