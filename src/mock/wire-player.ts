/**
 * Plays steps on the mock's end of a connection in memory.
 */
import { Buffer } from 'node:buffer'
import type { WireSocket } from './wire-socket.ts'
import type { WireFrame, WireScript, WireStep } from './wire-step.ts'

export class WirePlayer {
  readonly #socket: WireSocket
  /** Writes a frame of the request that is replied to. */
  readonly #writeFrame: (frame: WireFrame) => Promise<void>
  #split = 0
  /** Ends a wait early. */
  #wake: (() => void) | null = null

  constructor(socket: WireSocket, writeFrame: (frame: WireFrame) => Promise<void>) {
    this.#socket = socket
    this.#writeFrame = writeFrame
  }

  async play(steps: WireScript): Promise<void> {
    this.#split = 0
    for await (const step of steps) {
      if (this.#socket.destroyed || !(await this.#act(step))) return
    }
  }

  /** Pieces arrive in separate turns of the event loop: a stream joins those that wait together. */
  async write(bytes: Buffer): Promise<void> {
    const size = this.#split || bytes.length
    for (let at = 0; at < bytes.length; at += size) {
      await this.#socket.feed(bytes.subarray(at, at + size))
      if (size < bytes.length) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = globalThis.setTimeout(resolve, milliseconds)
      this.#wake = () => {
        globalThis.clearTimeout(timer)
        resolve()
      }
    })
  }

  /** The connection has ended. */
  stop(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }

  /** False: nothing more is done. */
  async #act(step: WireStep): Promise<boolean> {
    if (typeof step === 'string' || ArrayBuffer.isView(step)) {
      await this.write(Buffer.from(step as string))
      return true
    }
    switch (step.kind) {
      case 'wait':
        await this.wait(step.milliseconds)
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
      default:
        await this.#writeFrame(step)
        return true
    }
  }
}
