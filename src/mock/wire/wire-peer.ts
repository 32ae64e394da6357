/**
 * The server side of an in-memory connection, for HTTP/1.1: plays the reply of each request. The handler on
 * the client says when the request is written, so its bytes are not parsed.
 */
import { Buffer } from 'node:buffer'
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import { loadCrypto } from '../../base/node/lazy-modules.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { ACCEPT_SUFFIX } from '../../protocol/websocket/handshake.ts'
import type { Interception } from '../match/interception.ts'
import { bytesOf } from '../mock-body.ts'
import type { MockCall } from '../mock-call.ts'
import type { MockedResponse, UpgradeAcceptor } from '../reply/reply.ts'
import { responseText } from '../reply/response-text.ts'
import { serverSocket, systemError, type WireListener, type WireSocket } from './wire-socket.ts'
import {
  LONGEST_DELAY,
  type WireAction,
  type WireFrame,
  type WireProtocol,
  type WireScript,
  type WireStep,
} from './wire-step.ts'

/** A request and its reply. */
export interface WireTurn {
  readonly call: MockCall
  readonly interception: Interception
  /** Fails the request with this value. */
  fail(error: unknown): void
}

export class WirePeer implements WireListener {
  protected readonly socket: WireSocket
  protected readonly protocol: WireProtocol = 'h1'
  /** The HTTP/2 stream of the request; 0 after it was cancelled. */
  protected stream = 0
  readonly #turn: () => WireTurn | null
  /** Write in pieces of so many bytes; 0 for no limit. */
  #split = 0
  /** Ends a wait early. */
  #wake: (() => void) | null = null

  /** `turn` returns the request that the client carries. */
  constructor(socket: WireSocket, turn: () => WireTurn | null) {
    this.socket = socket
    this.#turn = turn
    socket.listener = this
  }

  /** The client has written the whole request. */
  onSent(): void {
    runtimeSetImmediate(() => this.onRequest())
  }

  onBytes(_bytes: Buffer): void {}

  onEnd(): void {
    this.socket.finish()
  }

  onClosed(): void {
    this.#wake?.()
  }

  protected onRequest(): void {
    const turn = this.#turn()
    if (turn !== null) this.#reply(turn).catch((error: unknown) => turn.fail(error))
  }

  async #reply(turn: WireTurn): Promise<void> {
    const { call, interception } = turn
    const { reply, delay } = interception
    const { stream } = this
    if (delay > 0) await this.#wait(delay)
    if (this.#turn() !== turn || this.socket.destroyed) return
    switch (reply.kind) {
      case 'response':
      case 'function':
        return this.#play(stream, this.responseSteps(await reply.ask(call), call.method))
      case 'raw':
        return this.#play(stream, reply.script(call.callbackOptions(), this.protocol))
      case 'upgrade':
        return this.#upgrade(turn, reply.accept)
    }
  }

  protected responseSteps(response: MockedResponse, method: string): WireScript {
    return responseText(response, method)
  }

  async #upgrade({ call, fail }: WireTurn, accept: UpgradeAcceptor): Promise<void> {
    await this.write(Buffer.from(switchingHead(call), 'latin1'))
    const server = serverSocket(this.socket)
    try {
      await accept(server, call.callbackOptions())
    } catch (error) {
      // The client may have the socket already: reset it.
      fail(error)
      server.destroy(systemError('ECONNRESET'))
    }
  }

  async #play(stream: number, steps: WireScript): Promise<void> {
    this.#split = 0
    for await (const step of steps) {
      if (this.socket.destroyed || this.stream !== stream || !(await this.#act(step))) return
    }
  }

  /** False if the script ends here. */
  async #act(step: WireStep): Promise<boolean> {
    const bytes = typeof step === 'string' ? Buffer.from(step) : bytesOf(step)
    if (bytes !== null) {
      await this.write(Buffer.from(bytes))
      return true
    }
    const action = step as WireAction
    switch (action?.kind) {
      case 'wait':
        await this.#wait(action.milliseconds)
        return true
      case 'split':
        this.#split = action.bytes
        return true
      case 'end':
        this.socket.finish()
        return false
      case 'reset':
        this.socket.reset(action.code)
        return false
      case 'stall':
        return false
      case 'headers':
      case 'data':
      case 'frame':
        await this.writeFrame(action)
        return true
      default:
        throw new InvalidArgumentError('a step must be a string, bytes or an action of mockWire')
    }
  }

  protected async writeFrame(_frame: WireFrame): Promise<void> {
    throw new InvalidArgumentError("frames need an agent with protocol: 'h2'")
  }

  /** Pieces go out in separate turns of the event loop: a stream would join those that wait together. */
  protected async write(bytes: Buffer): Promise<void> {
    const size = this.#split || bytes.length
    for (let at = 0; at < bytes.length; at += size) {
      await this.socket.feed(bytes.subarray(at, at + size))
      if (size < bytes.length) await new Promise((resolve) => runtimeSetImmediate(resolve))
    }
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = startTimer(resolve, Math.min(milliseconds, LONGEST_DELAY))
      this.#wake = () => {
        clearTimer(timer)
        resolve()
      }
    })
  }
}

function switchingHead({ method, options, fields }: MockCall): string {
  if (method === 'CONNECT') return 'HTTP/1.1 200 OK\r\n\r\n'
  const protocol = typeof options.upgrade === 'string' ? options.upgrade : 'websocket'
  const key = fields['sec-websocket-key']
  const digest = loadCrypto().createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64')
  const accept = key === undefined ? '' : `sec-websocket-accept: ${digest}\r\n`
  return `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n${accept}\r\n`
}
