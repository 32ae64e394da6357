/**
 * The two streams of a `WebSocketStream`: messages that arrive, and messages to send. Each holds the other
 * side back: the socket is not read while messages wait, and a write lasts until the socket has taken it.
 */

import type {
  ReadableStream,
  ReadableStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
} from 'node:stream/web'
import { isArrayBuffer, isSharedArrayBuffer } from 'node:util/types'
import { sourceBytes } from '../base/bytes/source-bytes.ts'
import { Deferred } from '../base/loop/deferred.ts'
import { loadWebStreams } from '../base/node/lazy-modules.ts'
import type { MessageBytes } from '../protocol/websocket/message-collector.ts'

/** The values that can be written. */
export type WebSocketChunk = string | ArrayBuffer | ArrayBufferView

/** The connection, as the streams use it. */
export interface MessagePeer {
  /** False if it cannot be sent any more; then `written` is not called. */
  send(message: string | Uint8Array, written: () => void): boolean
  /** Whether to stop reading. */
  hold(on: boolean): void
  /** One of the streams was closed, cancelled or aborted. */
  closeFor(reason: unknown): void
}

export class MessageStreams {
  readonly readable: ReadableStream<string | Uint8Array>
  readonly writable: WritableStream<WebSocketChunk>
  readonly #peer: MessagePeer
  /** Null once the stream has ended. */
  #incoming: ReadableStreamDefaultController<string | Uint8Array> | null = null
  #outgoing: WritableStreamDefaultController | null = null
  /** The write that the socket has not taken yet: a stream writes one chunk at a time. */
  #pending: Deferred | null = null

  constructor(peer: MessagePeer) {
    this.#peer = peer
    const { ReadableStream: Readable, WritableStream: Writable } = loadWebStreams()
    this.readable = new Readable<string | Uint8Array>({
      start: (controller) => {
        this.#incoming = controller
      },
      pull: () => peer.hold(false),
      cancel: (reason) => {
        this.#incoming = null
        peer.closeFor(reason)
      },
    })
    this.writable = new Writable<WebSocketChunk>({
      start: (controller) => {
        this.#outgoing = controller
      },
      write: (chunk) => this.#write(toMessage(chunk)),
      close: () => peer.closeFor(null),
      abort: (reason) => peer.closeFor(reason),
    })
  }

  /** A message has arrived. */
  receive(message: string | MessageBytes): void {
    const controller = this.#incoming
    if (controller === null) return
    controller.enqueue(typeof message === 'string' ? message : new Uint8Array(message.buffer))
    if ((controller.desiredSize ?? 0) <= 0) this.#peer.hold(true)
  }

  /** Ends the messages that arrive, normally or with an error; nothing can be written any more. */
  end(readError: { readonly value: unknown } | null, writeError: unknown): void {
    const incoming = this.#incoming
    const pending = this.#pending
    this.#incoming = null
    this.#pending = null
    if (readError === null) incoming?.close()
    else incoming?.error(readError.value)
    this.#outgoing!.error(writeError)
    // A stream is not errored before its last write has settled.
    pending?.reject(writeError)
  }

  #write(message: string | Uint8Array): Promise<void> {
    const pending = new Deferred()
    const written = (): void => {
      if (this.#pending === pending) this.#pending = null
      pending.resolve()
    }
    this.#pending = pending
    if (!this.#peer.send(message, written)) written()
    return pending.promise
  }
}

function toMessage(chunk: unknown): string | Uint8Array {
  if (typeof chunk === 'string') return chunk
  const isView = ArrayBuffer.isView(chunk)
  const buffer = isView ? chunk.buffer : chunk
  const what = isView ? 'A message cannot be a view on a' : 'A message cannot be a'
  // Web IDL: another thread, or the caller, could change them while they wait.
  if (isSharedArrayBuffer(buffer)) throw new TypeError(`${what} SharedArrayBuffer`)
  if (!isArrayBuffer(buffer)) {
    throw new TypeError('A message must be a string, an ArrayBuffer or a view of one')
  }
  if ((buffer as { resizable?: boolean }).resizable === true)
    throw new TypeError(`${what} resizable ArrayBuffer`)
  return sourceBytes(chunk as ArrayBuffer | ArrayBufferView)
}
