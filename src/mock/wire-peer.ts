/**
 * The other end of an HTTP/1.1 connection in memory: reads requests, and plays the reply of each.
 */
import { Buffer } from 'node:buffer'
import { loadCrypto } from '../base/lazy-modules.ts'
import { ACCEPT_SUFFIX } from '../protocol/websocket/handshake.ts'
import { RequestReader } from './request-reader.ts'
import { responseText } from './response-text.ts'
import { type WireListener, WireServerSocket, type WireSocket } from './wire-socket.ts'
import type { WireStep } from './wire-step.ts'
import type { WireTurn } from './wire-turn.ts'

export class WirePeer implements WireListener {
  readonly #socket: WireSocket
  readonly #take: () => WireTurn | null
  readonly #reader = new RequestReader(() => this.#onRequest())
  /** Has the connection after an upgrade. */
  #server: WireServerSocket | null = null
  #split = 0
  /** Ends a wait early. */
  #wake: (() => void) | null = null

  /** `take` returns what the request that has arrived is replied with. */
  constructor(socket: WireSocket, take: () => WireTurn | null) {
    this.#socket = socket
    this.#take = take
    socket.listener = this
  }

  onBytes(bytes: Buffer): void {
    if (this.#server === null) this.#reader.push(bytes)
    else this.#server.onBytes(bytes)
  }

  onEnd(): void {
    if (this.#server === null) this.#socket.finish()
    else this.#server.onEnd()
  }

  onClosed(): void {
    this.#server?.onClosed()
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }

  #onRequest(): void {
    const turn = this.#take()
    if (turn === null) return
    this.#play(turn).catch((error: unknown) => turn.fail(error))
  }

  async #play(turn: WireTurn): Promise<void> {
    const { reply, delay } = turn.interception
    this.#split = 0
    if (delay > 0) await this.#wait(delay)
    if (this.#socket.destroyed) return
    switch (reply.kind) {
      case 'response':
        await this.#run(responseText(reply.response, turn.call.method))
        return
      case 'function': {
        const made = await reply.make(turn.call.callbackOptions())
        await this.#run(responseText(reply.read(made), turn.call.method))
        return
      }
      case 'raw':
        await this.#run(reply.script(turn.call.callbackOptions()))
        return
      case 'upgrade': {
        await this.#write(Buffer.from(this.#switchingHead(turn.call.method), 'latin1'))
        this.#server = new WireServerSocket(this.#socket)
        reply.accept(this.#server, turn.call.callbackOptions())
      }
    }
  }

  async #run(steps: AsyncIterable<WireStep> | Iterable<WireStep>): Promise<void> {
    for await (const step of steps) {
      if (this.#socket.destroyed || !(await this.#act(step))) return
    }
  }

  /** False: nothing more is done. */
  async #act(step: WireStep): Promise<boolean> {
    if (typeof step === 'string' || ArrayBuffer.isView(step)) {
      await this.#write(Buffer.from(step as string))
      return true
    }
    switch (step.kind) {
      case 'wait':
        await this.#wait(step.milliseconds)
        return true
      case 'split':
        this.#split = step.bytes
        return true
      case 'end':
        this.#socket.finish()
        return false
      case 'reset':
        this.#socket.reset(step.code)
        return false
      case 'stall':
        return false
    }
  }

  /** Pieces arrive in separate turns of the event loop: a stream joins those that wait together. */
  async #write(bytes: Buffer): Promise<void> {
    const size = this.#split || bytes.length
    for (let at = 0; at < bytes.length; at += size) {
      await this.#socket.feed(bytes.subarray(at, at + size))
      if (size < bytes.length) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = globalThis.setTimeout(resolve, milliseconds)
      this.#wake = () => {
        globalThis.clearTimeout(timer)
        resolve()
      }
    })
  }

  #switchingHead(method: string): string {
    if (method === 'CONNECT') return 'HTTP/1.1 200 OK\r\n\r\n'
    const field = (name: string): string | undefined =>
      new RegExp(`^${name}: *(.*?) *$`, 'im').exec(this.#reader.head)?.[1]
    const key = field('sec-websocket-key')
    const accept =
      key === undefined
        ? ''
        : `sec-websocket-accept: ${loadCrypto().createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64')}\r\n`
    return `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${field('upgrade')}\r\n${accept}\r\n`
  }
}
