/**
 * The live streams of a connection, their number, the next id, and a bounded memory of why closed ones are
 * closed. The count is the size of the table and nothing else, so it cannot go wrong.
 */
import { MAX_STREAM_ID } from './constants.ts'
import { CLOSED_MEMORY, FIRST_CLOSED_MEMORY } from './limits.ts'
import type { Stream } from './stream.ts'
import {
  CLOSED_RESET_BY_US,
  IDLE,
  isState,
  nextState,
  type StreamInput,
  type StreamOutcome,
  type StreamState,
} from './stream-state.ts'
import { StreamTable } from './stream-table.ts'

export class StreamSet {
  readonly #live = new StreamTable()
  /** The id that the next stream will have. */
  nextId = 1
  /**
   * Direct-mapped by id: a newer stream simply takes the place of one 1024 streams older. Up to that size the
   * memory grows with the ids.
   */
  #closedIds = new Uint32Array(FIRST_CLOSED_MEMORY)
  #closedStates = new Uint8Array(FIRST_CLOSED_MEMORY)

  get size(): number {
    return this.#live.size
  }

  get hasIdsLeft(): boolean {
    return this.nextId <= MAX_STREAM_ID
  }

  add(stream: Stream): void {
    this.#live.add(stream)
    this.nextId = stream.id + 2
  }

  get(id: number): Stream | undefined {
    return this.#live.get(id)
  }

  /** The stream is closed; its state is remembered for a while. */
  remove(stream: Stream): void {
    this.#live.remove(stream)
    this.#remember(stream.id, stream.state)
  }

  #remember(id: number, state: StreamState): void {
    while (id >>> 1 >= this.#closedIds.length && this.#closedIds.length < CLOSED_MEMORY) this.#grow()
    const slot = (id >>> 1) % this.#closedIds.length
    this.#closedIds[slot] = id
    this.#closedStates[slot] = state
  }

  /** Every id so far has its place in the larger memory where it had it in the smaller. */
  #grow(): void {
    const ids = new Uint32Array(2 * this.#closedIds.length)
    const states = new Uint8Array(ids.length)
    ids.set(this.#closedIds)
    states.set(this.#closedStates)
    this.#closedIds = ids
    this.#closedStates = states
  }

  /** The table's verdict on an input to a stream that is not live; a next state is remembered. */
  advanceAbsent(id: number, input: StreamInput): StreamOutcome {
    const outcome = nextState(this.#stateOfAbsent(id), input)
    if (isState(outcome)) this.#remember(id, outcome)
    return outcome
  }

  /** The stream was never opened. */
  isIdle(id: number): boolean {
    return this.get(id) === undefined && this.#stateOfAbsent(id) === IDLE
  }

  /**
   * Ids that only a server could open stay idle, since pushes are refused. One too old to be remembered
   * counts as reset by us: its frames are ignored.
   */
  #stateOfAbsent(id: number): StreamState {
    if (id % 2 === 0 || id >= this.nextId) return IDLE
    const slot = (id >>> 1) % this.#closedIds.length
    if (this.#closedIds[slot] !== id) return CLOSED_RESET_BY_US
    // Only `#remember` writes this array, and only states.
    return this.#closedStates[slot] as StreamState
  }

  /** A copy, in the order they were opened. */
  all(): Stream[] {
    return this.#live.all()
  }
}
