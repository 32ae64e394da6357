/**
 * The place of one connection among those that an agent may have: from before it is opened until its socket
 * has closed. Who may have it, and when it has to be given up, is decided in connection-limit.ts.
 */
import type { Linked, LinkedList } from '../../base/collection/linked-list.ts'
import { now } from '../../base/loop/clock.ts'
import type { Connection } from '../../connection/connection.ts'

/**
 * - `taken`: the connection is being opened, or something runs on it
 * - `idle`: nothing runs on it
 * - `closing`: it was told to close, and nothing runs on it
 * - `draining`: it closes when what runs on it has finished
 * - `free`: its socket has closed
 */
export type PlaceState = 'taken' | 'idle' | 'closing' | 'draining' | 'free'

/** What a place was given to. */
export interface Holder {
  /** Places that are not free yet. */
  held: number
  /** It waits for another place. */
  readonly isWaiting: boolean
}

/** The limit. */
export interface PlaceHost {
  onIdle(place: Place): void
  onBusy(place: Place): void
  /** Whether the connection is to be retired. */
  takesFrom(place: Place, running: number): boolean
  onFree(place: Place): void
}

export class Place implements Linked<Place> {
  previous: Place | null = null
  next: Place | null = null
  listedIn: LinkedList<Place> | null = null
  readonly holder: Holder
  readonly #host: PlaceHost
  state: PlaceState = 'taken'
  /** Null as long as it is being opened. */
  connection: Pick<Connection, 'retire' | 'onBroken'> | null = null
  /** When it was given. */
  readonly givenAt: number = now()
  /** When it was told to give the place up. */
  endsAt = 0

  constructor(host: PlaceHost, holder: Holder) {
    this.#host = host
    this.holder = holder
  }

  /** Nothing runs on the connection. Also called when that is known. */
  onIdle(): void {
    if (this.state === 'taken') this.#host.onIdle(this)
  }

  /** A request is about to run, or the connection has ended. */
  onBusy(): void {
    if (this.state === 'idle') this.#host.onBusy(this)
  }

  /**
   * A request has ended. True: it is another origin's turn, and the connection is to be retired.
   *
   * @param running how many requests still run
   */
  mustYield(running: number): boolean {
    return this.state === 'taken' && this.#host.takesFrom(this, running)
  }

  /** The socket has closed, or does not exist. */
  release(): void {
    if (this.state !== 'free') this.#host.onFree(this)
  }
}
