/**
 * The output of an HTTP/2 connection, and when it leaves. What is queued in one turn of the event loop leaves
 * in one write: over TLS each record of a read is a separate tick, and a server may put each response into
 * one, so a tick is too early. A few new requests among many open ones wait for others, because a write for
 * each handful costs both sides more than the wait.
 */

import { afterAnswers } from '../../base/loop/answers.ts'
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'
import type { Transport } from '../../net/stream-transport.ts'
import type { ClientEngine } from '../../protocol/http2/client-engine.ts'
import type { Stream } from '../../protocol/http2/stream.ts'
import type { Http2Host } from './host.ts'

/** Turns of the event loop for which requests wait for others to leave with, while responses keep coming. */
const MAX_HELD_TURNS = 4

/** `running`: a read or a write is under way, after which output is looked for anyway. */
type Flushing = 'no' | 'scheduled' | 'running'

export class Http2Output {
  readonly #host: Http2Host
  readonly #engine: ClientEngine
  readonly #transport: Transport
  #flushing: Flushing = 'no'
  /** Requests that have been taken since output last left. */
  #newRequests = 0
  /** Turns for which they have been held back. */
  #heldTurns = 0
  /** Something was read since the last turn. */
  #hasRead = false
  readonly #onImmediate = (): void => {
    // What callers send in this turn leaves in it. Not again if they get more responses at once, as from a
    // cache.
    if (!afterAnswers(this.#onTurnEnd)) this.#onTurnEnd()
  }
  readonly #onTurnEnd = (): void => {
    try {
      this.#onTurn()
    } catch (error) {
      this.#host.onBroken(error as Error)
    }
  }

  constructor(host: Http2Host, engine: ClientEngine, transport: Transport) {
    this.#host = host
    this.#engine = engine
    this.#transport = transport
  }

  /** The engine has something to send, or may have. */
  schedule(): void {
    if (this.#flushing !== 'no') return
    this.#flushing = 'scheduled'
    runtimeSetImmediate(this.#onImmediate)
  }

  onRequest(): void {
    this.#newRequests++
    this.schedule()
  }

  /** Part of a request body; false: the stream takes more when `onWritable` says so. */
  send(stream: Stream, bytes: Uint8Array, end: boolean): boolean {
    this.schedule()
    try {
      return this.#engine.send(stream, bytes, end)
    } catch (error) {
      this.#host.onBroken(error as Error)
      return false
    }
  }

  /** Instead of the end: flat, names in lower case. */
  sendTrailers(stream: Stream, fields: readonly string[]): void {
    this.#engine.sendTrailers(stream, fields)
    this.schedule()
  }

  /** The consumer has taken this many bytes of the response. */
  release(stream: Stream, bytes: number): void {
    this.schedule()
    try {
      this.#engine.release(stream, bytes)
    } catch (error) {
      this.#host.onBroken(error as Error)
    }
  }

  reset(stream: Stream, code: number): void {
    this.schedule()
    try {
      this.#engine.reset(stream, code)
    } catch (error) {
      this.#host.onBroken(error as Error)
    }
  }

  /**
   * The engine is given bytes: what it has to send meanwhile needs no extra turn. Returns what `endRead`
   * takes.
   */
  beginRead(): Flushing {
    const flushing = this.#flushing
    this.#flushing = 'running'
    this.#hasRead = true
    return flushing
  }

  endRead(flushing: Flushing): void {
    this.#flushing = flushing
  }

  #onTurn(): void {
    const isFew = this.#newRequests > 0 && this.#newRequests * 2 < this.#engine.streams.size
    if (isFew && this.#hasRead && this.#heldTurns < MAX_HELD_TURNS) {
      // A turn in which nothing is read ends the wait.
      this.#hasRead = false
      this.#heldTurns++
      runtimeSetImmediate(this.#onImmediate)
      return
    }
    this.flush()
  }

  /** Writes what is due. */
  flush(): void {
    if (this.#host.isOver) return
    this.#newRequests = 0
    this.#heldTurns = 0
    this.#flushing = 'running'
    try {
      this.#host.onFlush()
      this.#write()
    } finally {
      this.#flushing = 'no'
    }
    this.#host.onFlushed()
  }

  #write(): void {
    const transport = this.#transport
    while (!transport.congested) {
      const output = this.#engine.takeOutput()
      if (output === null) break
      transport.writeAllNow(output)
    }
  }

  /** GOAWAY as the last frame, even if the socket is congested. */
  sendGoaway(): void {
    try {
      this.#engine.shutdown()
      const output = this.#engine.takeOutput()
      if (output !== null) this.#transport.writeAllNow(output)
    } catch {
      // The peer gets no GOAWAY; the connection closes for the same reason.
    }
  }
}
