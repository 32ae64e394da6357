/**
 * Plays steps on the mock's end of a connection in memory.
 */

import { Buffer } from 'node:buffer'
import { runtimeSetImmediate } from '../../base/runtime-turns.ts'
import { clearTimer, startTimer } from '../../base/timer.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { bytesOf } from '../mock-body.ts'
import type { WireSocket } from './wire-socket.ts'
import type { WireAction, WireFrame, WireScript, WireStep } from './wire-step.ts'

/** The runtime turns a longer wait into 1 ms. */
const LONGEST_WAIT = 2 ** 31 - 1

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
      if (size < bytes.length) await new Promise((resolve) => runtimeSetImmediate(resolve))
    }
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = startTimer(resolve, Math.min(milliseconds, LONGEST_WAIT))
      this.#wake = () => {
        clearTimer(timer)
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
    const bytes = typeof step === 'string' ? Buffer.from(step) : bytesOf(step)
    if (bytes !== null) {
      await this.write(Buffer.from(bytes))
      return true
    }
    const action = step as WireAction
    switch (action?.kind) {
      case 'wait':
        await this.wait(action.milliseconds)
        return true
      case 'split':
        this.#split = action.bytes
        return true
      case 'end':
        this.#socket.finish()
        return false
      case 'reset':
        this.#socket.reset(action.code)
        return false
      case 'stall':
        return false
      case 'headers':
      case 'data':
      case 'frame':
        await this.#writeFrame(action)
        return true
      default:
        throw new InvalidArgumentError('a step must be a string, bytes or an action of mockWire')
    }
  }
}
