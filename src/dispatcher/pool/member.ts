/** A dispatcher that a pool is made of. */
import { NOT_IN_HEAP, type Ranked } from '../../base/collection/indexed-heap.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { ClientSession } from '../session/client-session.ts'

/**
 * - `free`: in the heap, it can take work
 * - `giving`: in the heap, work is being given to it
 * - `drained`: in the heap, it has reported room, perhaps while work was being given to it
 * - `full`: it takes no more until it drains
 * - `retired`: it finishes what it has, and gets nothing more
 */
export type MemberState = 'free' | 'giving' | 'drained' | 'full' | 'retired'

export class Member implements Ranked {
  readonly dispatcher: Dispatcher
  /** Decides between equal ranks: older members come first. */
  readonly order: number
  rank: number
  heapIndex: number = NOT_IN_HEAP
  /** Null for what is not a client of ours: only its events are known. */
  session: ClientSession | null = null
  state: MemberState = 'free'
  /** Connections that it has reported: it may be a pool itself. */
  connections = 0
  connectedAt = 0

  constructor(dispatcher: Dispatcher, order: number) {
    this.dispatcher = dispatcher
    this.order = order
    this.rank = order
  }

  get isFree(): boolean {
    return this.heapIndex !== NOT_IN_HEAP
  }

  get isOpening(): boolean {
    return this.state !== 'retired' && this.session?.isOpening === true
  }
}
