/**
 * An open WebSocket on a socket: reading, answering, the closing handshake and the many ways in which a
 * connection ends without one (RFC 6455 §5–§7). It knows neither events nor the public classes.
 */

import type { Duplex } from 'node:stream'
import { type CallContext, captureContext, runIn } from '../base/loop/call-context.ts'
import { Deadline } from '../base/loop/deadline.ts'
import { MessageSizeExceededError, SocketError } from '../errors.ts'
import { ABNORMAL, INTERNAL, NO_STATUS } from '../protocol/websocket/close-code.ts'
import type { DeflateParameters } from '../protocol/websocket/extension.ts'
import { INFLATED_TOO_BIG, type WebSocketFailure } from '../protocol/websocket/failures.ts'
import type { WebSocketLimits } from '../protocol/websocket/limits.ts'
import type { MessageBytes } from '../protocol/websocket/message-collector.ts'
import { type Compression, Receiver, type ReceiverSink } from '../protocol/websocket/receiver.ts'
import { publish, webSocketChannels } from './channels.ts'
import { MessageDeflater } from './message-deflater.ts'
import { MessageInflater } from './message-inflater.ts'
import type { Opened } from './opening-handshake.ts'
import { Sender } from './sender.ts'

export interface Closure {
  /** 1005 if the peer's close frame had none, 1006 if it sent no close frame. */
  readonly code: number
  readonly reason: string
  readonly wasClean: boolean
  /** Null after a close frame of the peer. */
  readonly error: Error | null
}

export interface ConnectionObserver {
  onMessage(data: string | MessageBytes): void
  /** The peer is closing, or a failure occurred: nothing more can be sent. */
  onClosing(): void
  /** Once, at the very end. */
  onClosed(closure: Closure): void
}

/** Time for a peer to answer our close frame: it may still be sending messages. */
const CLOSE_TIMEOUT = 30_000

/** Time for the peer to close the connection after close frames went both ways. */
const END_TIMEOUT = 1_000

/**
 * After a failure: time for the peer to read our close frame. Destroying the socket at once would make the
 * kernel reset the connection when more bytes arrive, and some systems then discard what was not read.
 */
const FAILED_TIMEOUT = 250

/** Our half of the closing handshake. `asked`: the close frame waits for the messages before it. */
type Closing = 'no' | 'asked' | 'sent'

/**
 * `ended`: the peer's half has ended. `closed`: the socket is closed. `finished`: the observer knows. An end
 * that comes while a message is being inflated takes effect after the bytes that were read before it.
 */
type Wire = 'open' | 'ended' | 'closed' | 'finished'

export class WebSocketConnection implements ReceiverSink {
  readonly #websocket: object
  readonly #socket: Duplex
  readonly #observer: ConnectionObserver
  readonly #receiver: Receiver
  readonly sender: Sender
  readonly #inflater: MessageInflater | null
  readonly #deadline = new Deadline({
    onDeadline: () => this.#socket.destroy(),
    // A socket of the caller may throw instead of closing. That is its end, too.
    onBroken: () => this.#onSocketClosed(),
  })
  /** Needed because the socket may have been opened for another request, in that request's context. */
  readonly #context: CallContext | null = captureContext()
  #closing: Closing = 'no'
  #received: { readonly code: number; readonly reason: string } | null = null
  #error: Error | null = null
  /** Read from the socket while a message is being inflated. */
  #backlog: Buffer[] = []
  #wire: Wire = 'open'
  /** The consumer of the messages wants no more for now. */
  #held = false

  /** @param websocket The public object, for diagnostics. */
  constructor(
    websocket: object,
    { socket, agreement: { deflate } }: Opened,
    limits: WebSocketLimits,
    observer: ConnectionObserver,
  ) {
    this.#websocket = websocket
    this.#socket = socket
    this.#observer = observer
    const compression = compressionOf(deflate)
    this.#receiver = new Receiver(this, limits, compression)
    const deflater = deflate === null ? null : new MessageDeflater(deflate)
    this.sender = new Sender(socket, deflater, (error) => this.#fail(INTERNAL, '', error))
    const onInflated = (chunk: Buffer): boolean => this.#receiver.inflated(chunk)
    this.#inflater = compression === 'deflate' ? new MessageInflater(deflate!, onInflated) : null
    // A peer that sends a close frame and ends its half still gets an answer.
    socket.allowHalfOpen = true
    socket.on('error', (error: Error) => {
      this.#error ??= error
      runIn(this.#context, publish, undefined, webSocketChannels.socketError, error)
    })
    socket.on('close', () => runIn(this.#context, this.#onSocketClosed, this))
  }

  /** Begins to read messages. */
  start(): void {
    this.#socket.on('data', (chunk: Buffer) => runIn(this.#context, this.#onData, this, chunk))
    this.#socket.on('end', () => runIn(this.#context, this.#onEnd, this))
  }

  /** Stops or resumes reading from the socket. Messages that were read before are still delivered. */
  hold(on: boolean): void {
    this.#held = on
    if (on) this.#socket.pause()
    else if (this.#receiver.status !== 'paused') this.#socket.resume()
  }

  /** Starts the closing handshake. */
  close(code: number | null, reason: string): void {
    if (this.#closing !== 'no') return
    this.#closing = 'asked'
    this.sender.close(code, reason, () => {
      this.#closing = 'sent'
      if (this.#received === null) this.#deadline.arm(CLOSE_TIMEOUT)
      else this.#end(END_TIMEOUT)
    })
  }

  setReferenced(on: boolean): void {
    const socket = this.#socket as Duplex & { ref?(): void; unref?(): void }
    socket[on ? 'ref' : 'unref']?.()
  }

  onMessage(data: string | MessageBytes): void {
    this.#observer.onMessage(data)
  }

  onCompressed(bytes: Buffer, start: number, end: number, last: boolean): void {
    this.#receiver.pause()
    this.#inflater!.write(bytes.subarray(start, end), last, (outcome) => {
      if (outcome === 'failed') this.#receiver.inflateFailed()
      else if (outcome === 'done' && last) this.#receiver.inflatedEnd()
      this.#receiver.resume()
      this.#readOn()
    })
  }

  onPing(payload: Buffer): void {
    this.sender.pong(payload)
    publish(webSocketChannels.ping, { payload, websocket: this.#websocket })
  }

  onPong(payload: Buffer): void {
    publish(webSocketChannels.pong, { payload, websocket: this.#websocket })
  }

  onClose(code: number, reason: string): void {
    this.#received = { code, reason }
    this.#observer.onClosing()
    if (this.#closing === 'sent') this.#end(END_TIMEOUT)
    else this.close(code === NO_STATUS ? null : code, '')
  }

  onFailure(failure: WebSocketFailure): void {
    const error =
      failure === INFLATED_TOO_BIG
        ? new MessageSizeExceededError(failure.message)
        : new SocketError(failure.message, null, { cause: failure })
    this.#fail(failure.code, failure.message, error)
  }

  #fail(code: number, reason: string, error: Error): void {
    this.#error ??= error
    this.#observer.onClosing()
    this.#receiver.stop()
    this.sender.abort(code, reason)
    this.#end(FAILED_TIMEOUT)
  }

  /** The peer ended its half. If it sent no close frame before, it no longer reads either. */
  #onEnd(): void {
    if (this.#wire === 'open') this.#wire = 'ended'
    if (this.#receiver.status === 'paused') return
    if (this.#received !== null) {
      // Our answer may still have to wait for messages before it.
      this.#deadline.arm(END_TIMEOUT)
      return
    }
    this.#observer.onClosing()
    this.sender.stop()
    this.#end(END_TIMEOUT)
  }

  /** Ends our half; the peer has this long to end its own. */
  #end(timeout: number): void {
    this.#deadline.arm(timeout)
    this.#socket.end()
  }

  #onData(chunk: Buffer): void {
    if (this.#backlog.length > 0) this.#backlog.push(chunk)
    else this.#read(chunk)
  }

  #read(chunk: Buffer): void {
    const taken = this.#receiver.execute(chunk, 0, chunk.length)
    if (this.#receiver.status !== 'paused') return
    this.#socket.pause()
    if (taken < chunk.length) this.#backlog.unshift(chunk.subarray(taken))
  }

  /** Processes the bytes that were read before, then reads more from the socket. */
  #readOn(): void {
    while (this.#receiver.status !== 'paused') {
      const chunk = this.#backlog.shift()
      if (chunk === undefined) {
        if (!this.#held) this.#socket.resume()
        if (this.#wire === 'ended') this.#onEnd()
        else if (this.#wire === 'closed') this.#finish()
        return
      }
      this.#read(chunk)
    }
  }

  #onSocketClosed(): void {
    if (this.#wire === 'finished') return
    this.#wire = 'closed'
    // Bytes that arrived before, perhaps a close frame, are still processed.
    if (this.#receiver.status !== 'paused') this.#finish()
  }

  #finish(): void {
    if (this.#wire === 'finished') return
    this.#wire = 'finished'
    this.#receiver.stop()
    this.sender.stop()
    this.#inflater?.close()
    this.#deadline.dispose()
    const { code, reason } = this.#received ?? { code: ABNORMAL, reason: '' }
    const wasClean = this.#received !== null && this.#closing === 'sent'
    const error = this.#received === null ? (this.#error ?? new SocketError('other side closed', null)) : null
    this.#observer.onClosed({ code, reason, wasClean, error })
  }
}

function compressionOf(deflate: DeflateParameters | null): Compression {
  if (deflate === null) return 'none'
  return deflate.serverWindowBits === null ? 'invalid' : 'deflate'
}
