/**
 * The connection that a session gives its requests to, and the name its server has proved. It may be retired while it
 * is given one, by the handler of that request, which is then its last. What waits is not known here.
 */
import type { Connection } from '../../connection/connection.ts'
import { informational } from '../../connection/ends.ts'
import type { Request } from '../../request/request.ts'
import type { Place } from '../places/place.ts'
import type { VerifiedName } from './verified-name.ts'

/** Whether it is given a request now; if that is to be its last, why. */
type Takes = 'nothing' | 'a request' | { readonly last: string }

export class CurrentConnection {
  readonly at = 'open'
  readonly connection: Connection
  readonly name: VerifiedName
  /** Among the connections of all origins; null if they have no limit. */
  readonly place: Place | null
  #takes: Takes = 'nothing'

  constructor(connection: Connection, name: VerifiedName, place: Place | null) {
    this.connection = connection
    this.name = name
    this.place = place
  }

  /** False: it takes no more for now. */
  offer(request: Request): boolean {
    this.#takes = 'a request'
    try {
      return this.connection.offer(request)
    } finally {
      const why = this.#endTaking()
      if (why !== null) this.retire(why)
    }
  }

  /** It finishes what runs on it, and gets nothing more. */
  retire(why: string): void {
    if (this.#takes === 'nothing') this.connection.retire(informational('finished', why))
    else if (this.#takes === 'a request') this.#takes = { last: why }
  }

  #endTaking(): string | null {
    const takes = this.#takes
    this.#takes = 'nothing'
    return typeof takes === 'object' ? takes.last : null
  }
}
