/**
 * One stream: its state, its two windows, what it has to send, and what it expects to receive. The members
 * marked internal belong to the files of this folder; the owner reads `id`, `slot`, `isClosed` and
 * `queuedBytes`. Decides nothing.
 */
import { ReceiveWindow, SendWindow } from './flow-window.ts'
import { NO_LENGTH } from './message.ts'
import { AWAITING_HEAD, type ResponsePhase } from './response-phase.ts'
import { SendQueue } from './send-queue.ts'
import type { StreamList } from './stream-list.ts'
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

export class Stream<T> {
  readonly id: number
  /** Whatever the caller of `open` keeps for this stream. */
  readonly slot: T
  /** @internal */
  readonly method: string
  #state: StreamState = IDLE
  /** @internal */
  phase: ResponsePhase = AWAITING_HEAD
  /**
   * @internal The caller has heard the end of this stream (`onEnd`, `onReset`) or wants to hear no more
   * (`reset`). No state: it can come before the stream is closed (upload goes on after the response) or
   * after (callbacks of the frame that closed it are still under way).
   */
  isSettled = false
  /** @internal */
  readonly sendWindow: SendWindow
  /** @internal */
  readonly receiveWindow: ReceiveWindow
  /** @internal */
  readonly queue: SendQueue
  /** @internal The caller has given its last byte; END_STREAM follows the queue. */
  hasAllToSend: boolean
  /** @internal Sent behind the queue instead of an empty end. */
  trailers: readonly string[] | null = null
  /** @internal By which the writer knows its HEADERS. */
  head = 0
  /** @internal The caller was told to wait for `onWritable`. */
  isHeldBack = false
  /** @internal The scheduler's list that the stream is in, and its neighbours there. */
  scheduledIn: StreamList<T> | null = null
  /** @internal */
  nextScheduled: Stream<T> | null = null
  /** @internal */
  previousScheduled: Stream<T> | null = null
  /** @internal Content bytes that the head announced, or NO_LENGTH. */
  expectedLength: number = NO_LENGTH
  /** @internal */
  receivedLength = 0
  /** @internal */
  interimHeads = 0

  constructor(
    id: number,
    slot: T,
    method: string,
    endStream: boolean,
    initialSendWindow: number,
    initialReceiveWindow: number,
  ) {
    this.id = id
    this.slot = slot
    this.method = method
    this.sendWindow = new SendWindow(initialSendWindow)
    this.receiveWindow = new ReceiveWindow(initialReceiveWindow, initialReceiveWindow)
    this.queue = endStream ? SendQueue.NONE : new SendQueue()
    this.hasAllToSend = endStream
  }

  /** @internal */
  get state(): StreamState {
    return this.#state
  }

  /** @internal Moves to the next state if the table has one; returns its verdict. */
  advance(input: StreamInput): StreamOutcome {
    const outcome = nextState(this.#state, input)
    if (isState(outcome)) this.#state = outcome
    return outcome
  }

  /** Nothing can be sent or received on it any more. */
  get isClosed(): boolean {
    return isClosed(this.#state)
  }

  /** Our side is not ended and not reset. */
  get maySend(): boolean {
    return this.#state === OPEN || this.#state === HALF_CLOSED_REMOTE
  }

  /** The peer has neither ended nor reset it. */
  get mayReceive(): boolean {
    return this.#state === OPEN || this.#state === HALF_CLOSED_LOCAL
  }

  /** Body bytes accepted by `send` that have not been framed. */
  get queuedBytes(): number {
    return this.queue.bytes
  }
}
