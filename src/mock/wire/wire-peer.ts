/**
 * The other end of an HTTP/1.1 connection in memory: reads requests, and plays the reply of each.
 */
import { Buffer } from 'node:buffer'
import { loadCrypto } from '../../base/lazy-modules.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { ACCEPT_SUFFIX } from '../../protocol/websocket/handshake.ts'
import { responseText } from '../reply/response-text.ts'
import { RequestReader } from './request-reader.ts'
import { WirePlayer } from './wire-player.ts'
import { systemError, type WireListener, WireServerSocket, type WireSocket } from './wire-socket.ts'
import { faultScript } from './wire-step.ts'
import type { WireTurn } from './wire-turn.ts'

export class WirePeer implements WireListener {
  readonly #socket: WireSocket
  readonly #take: () => WireTurn | null
  readonly #reader = new RequestReader(() => this.#onRequest())
  /** Has the connection after an upgrade. */
  #server: WireServerSocket | null = null
  readonly #player: WirePlayer

  /** `take` returns what the request that has arrived is replied with. */
  constructor(socket: WireSocket, take: () => WireTurn | null) {
    this.#socket = socket
    this.#take = take
    this.#player = new WirePlayer(socket, noFrames)
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
    this.#player.stop()
  }

  #onRequest(): void {
    const turn = this.#take()
    if (turn === null) return
    this.#play(turn).catch((error: unknown) => turn.fail(error))
  }

  async #play(turn: WireTurn): Promise<void> {
    const { reply, delay } = turn.interception
    if (delay > 0) await this.#player.wait(delay)
    if (this.#socket.destroyed) return
    switch (reply.kind) {
      case 'response':
        await this.#player.play(responseText(reply.response, turn.call.method))
        return
      case 'function': {
        const made = await reply.make(turn.call.callbackOptions())
        await this.#player.play(responseText(reply.read(made), turn.call.method))
        return
      }
      case 'raw':
        await this.#player.play(reply.script(turn.call.callbackOptions()))
        return
      case 'fault':
        await this.#player.play(faultScript(reply.fault))
        return
      case 'upgrade': {
        await this.#player.write(Buffer.from(this.#switchingHead(turn.call.method), 'latin1'))
        const server = new WireServerSocket(this.#socket)
        this.#server = server
        try {
          await reply.accept(server, turn.call.callbackOptions())
        } catch (error) {
          // The client may have its end already: it gets a connection that is reset.
          turn.fail(error)
          server.destroy(systemError('ECONNRESET'))
        }
      }
    }
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

async function noFrames(): Promise<void> {
  throw new InvalidArgumentError("frames need an agent with protocol: 'h2'")
}
