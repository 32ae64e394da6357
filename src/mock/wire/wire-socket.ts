/**
 * An in-memory connection: the client's socket, and the server that plays the reply of each request on it.
 * Here the server speaks HTTP/1.1. The handler on the client says when the request is written, so its bytes
 * are not parsed.
 */
import { Buffer } from 'node:buffer'
import { Duplex } from 'node:stream'
import { LONGEST_DELAY } from '../../base/loop/deadline.ts'
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'
import { clearTimer, startInterval, startTimer } from '../../base/loop/timer.ts'
import { loadCrypto } from '../../base/node/lazy-modules.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { ACCEPT_SUFFIX } from '../../protocol/websocket/handshake.ts'
import type { Interception } from '../match/interception.ts'
import { bytesOf } from '../mock-body.ts'
import type { MockCall } from '../mock-call.ts'
import type { MockedResponse, UpgradeAcceptor } from '../reply/reply.ts'
import { responseText } from '../reply/response-text.ts'
import type { WireAction, WireFrame, WireScript } from './wire-step.ts'

/** Bytes per connection kept for `agent.wire`. */
const MOST_KEPT = 16 * 1024 * 1024

/** A request and its reply. */
export interface WireTurn {
  readonly call: MockCall
  readonly interception: Interception
  /** Fails the request with this value. */
  fail(error: unknown): void
}

export class WireSocket extends Duplex {
  readonly origin: string
  readonly remoteAddress = 'in-memory'
  bytesWritten = 0
  bytesRead = 0
  readonly alpnProtocol: 'h2' | undefined = undefined
  readonly written: Buffer[] = []
  /** The HTTP/2 stream of the request; 0 after it was cancelled. */
  protected stream = 0
  readonly #turn: () => WireTurn | null
  /** The server's end after an upgrade. */
  #server: Duplex | null = null
  #isFinished = false
  /** The client wants more bytes. */
  #onRead: (() => void) | null = null
  /** Keeps the process alive, as a socket does. */
  readonly #hold = startInterval(() => {}, LONGEST_DELAY)
  /** Write in pieces of so many bytes; 0 for no limit. */
  #split = 0
  /** Ends a wait early. */
  #wake: (() => void) | null = null

  /** `turn` returns the request that the client carries. */
  constructor(origin: string, turn: () => WireTurn | null) {
    super()
    this.origin = origin
    this.#turn = turn
    this.on('close', () => this.onClosed())
  }

  ref(): this {
    if (!this.destroyed) this.#hold.ref?.()
    return this
  }

  unref(): this {
    this.#hold.unref?.()
    return this
  }

  override _read(): void {
    this.#onRead?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.bytesWritten += chunk.length
    const bytes = Buffer.from(chunk)
    if (this.bytesWritten <= MOST_KEPT) this.written.push(bytes)
    // In a later turn: no server answers within the client's own turn.
    runtimeSetImmediate(() => this.onBytes(bytes))
    done()
  }

  override _final(done: (error?: Error | null) => void): void {
    done()
    // After the bytes that were written before.
    runtimeSetImmediate(() => {
      if (this.#server === null) this.#finish()
      else this.onBytes(null)
    })
  }

  /** What the client writes; null for its end. */
  protected onBytes(bytes: Buffer | null): void {
    const server = this.#server
    if (server !== null && !server.destroyed && !server.readableEnded) server.push(bytes)
  }

  protected onClosed(): void {
    clearTimer(this.#hold)
    this.#onRead?.()
    this.#wake?.()
    if (this.#server === null) return
    this.onBytes(null)
    if (this.errored) this.#server.destroy()
  }

  /** Bytes for the client. Resolves when it wants more. */
  async #feed(bytes: Buffer): Promise<void> {
    if (this.destroyed || this.#isFinished || bytes.length === 0) return
    this.bytesRead += bytes.length
    if (!this.push(bytes)) {
      await new Promise<void>((resolve) => {
        this.#onRead = resolve
      })
    }
  }

  /** The server closes the connection. */
  #finish(): void {
    if (this.destroyed || this.#isFinished) return
    this.#isFinished = true
    this.push(null)
  }

  /** The client has written the whole request. */
  onSent(): void {
    runtimeSetImmediate(() => this.onRequest())
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
    if (this.#turn() !== turn || this.destroyed) return
    if ('ask' in reply) return this.#play(stream, this.responseSteps(await reply.ask(call), call.method))
    if (reply.kind === 'upgrade') return this.#upgrade(turn, reply.accept)
    if (reply.kind !== 'raw') return
    await this.#play(stream, reply.script(call.callbackOptions(), this.alpnProtocol ?? 'h1'))
  }

  protected responseSteps(response: MockedResponse, method: string): WireScript {
    return responseText(response, method)
  }

  async #upgrade({ call, fail }: WireTurn, accept: UpgradeAcceptor): Promise<void> {
    await this.send(Buffer.from(switchingHead(call), 'latin1'))
    const server = new Duplex({
      read() {},
      write: (chunk: Buffer, _encoding, done) => {
        this.#feed(Buffer.from(chunk)).then(() => done(), done)
      },
      final: (done) => {
        this.#finish()
        done()
      },
      destroy: (error, done) => {
        if (error === null) this.#finish()
        else this.destroy(systemError('ECONNRESET'))
        done(error)
      },
    })
    // The caller may not listen for errors; the client reports the failure.
    this.#server = server.on('error', () => {})
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
      if (this.destroyed || this.stream !== stream) return
      const bytes = typeof step === 'string' ? Buffer.from(step) : bytesOf(step)
      if (bytes !== null) {
        await this.send(Buffer.from(bytes))
        continue
      }
      const action = step as WireAction
      switch (action?.kind) {
        case 'wait':
          await this.#wait(action.milliseconds)
          break
        case 'split':
          this.#split = action.bytes
          break
        case 'headers':
        case 'frame':
          await this.sendFrame(action)
          break
        case 'end':
          return this.#finish()
        case 'reset':
          this.destroy(systemError(action.code))
          return
        case 'stall':
          return
        default:
          throw new InvalidArgumentError('a step must be a string, bytes or an action of mockWire')
      }
    }
  }

  protected async sendFrame(_frame: WireFrame): Promise<void> {
    throw new InvalidArgumentError("frames need an agent with protocol: 'h2'")
  }

  /** Pieces go out in separate turns of the event loop: a stream would join those that wait together. */
  protected async send(bytes: Buffer): Promise<void> {
    const size = this.#split || bytes.length
    for (let at = 0; at < bytes.length; at += size) {
      await this.#feed(bytes.subarray(at, at + size))
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

/** The error that the system reports for a broken connection. Its message begins with the system call. */
export function systemError(code: string, message = `read ${code}`): Error {
  const errno = process.platform === 'linux' && code === 'ECONNRESET' ? -104 : undefined
  return Object.assign(new Error(message), {
    code,
    syscall: message.split(' ', 1)[0],
    ...(errno && { errno }),
  })
}
