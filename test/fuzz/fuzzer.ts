/** Runs targets on mutated recordings, and makes what breaks one of them small. */
import { loadCorpus, type Recording } from './corpus.ts'
import { FORMATS } from './format.ts'
import { mutate } from './mutator.ts'
import { Random } from './random.ts'
import type { Target } from './target.ts'
import { http1Client, http2Client } from './targets/clients.ts'
import { cookieParser } from './targets/cookie-parser.ts'
import { hpackDecoder } from './targets/hpack-decoder.ts'
import { http1Differential } from './targets/http1-differential.ts'
import { http1Parser } from './targets/http1-parser.ts'
import { http2Engine } from './targets/http2-engine.ts'
import { webSocketConnection } from './targets/websocket-connection.ts'
import { webSocketReceiver } from './targets/websocket-receiver.ts'

export const TARGETS: readonly Target[] = [
  http1Parser,
  http2Engine,
  hpackDecoder,
  webSocketReceiver,
  webSocketConnection,
  cookieParser,
  http1Client,
  http2Client,
  http1Differential,
]

export interface Finding {
  readonly target: string
  readonly seed: number
  readonly input: Recording
  readonly error: Error
}

export interface Tally {
  executions: number
  bytes: number
}

/** Attempts at making a finding smaller. */
const MAX_ATTEMPTS = 2_000

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const

/**
 * Errors that nobody caught, which are findings of whatever runs at the time. Whoever listens for them
 * otherwise, such as a test runner, hears nothing meanwhile.
 */
class Uncaught {
  readonly #errors: Error[] = []
  readonly #others: NodeJS.UncaughtExceptionListener[][] = []
  readonly #note = (error: unknown): void => {
    this.#errors.push(error instanceof Error ? error : new Error(String(error)))
  }

  open(): void {
    for (const event of EVENTS) {
      this.#others.push(process.listeners(event as 'uncaughtException'))
      process.removeAllListeners(event).on(event, this.#note)
    }
  }

  close(): void {
    for (const [index, event] of EVENTS.entries()) {
      process.removeAllListeners(event)
      for (const listener of this.#others[index]!) process.on(event, listener)
    }
    this.#others.length = 0
  }

  take(): Error | null {
    return this.#errors.splice(0)[0] ?? null
  }
}

const uncaught = new Uncaught()

/** What is wrong with how the target takes this input; null when nothing is. */
export async function trial(target: Target, input: Recording, seed: number): Promise<Error | null> {
  uncaught.open()
  try {
    // Most targets need no turn of the event loop, and waiting for one would cost more than they do.
    const running = target.check(input, new Random(seed))
    if (running !== undefined) await running
    return uncaught.take()
  } catch (error) {
    uncaught.take()
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    uncaught.close()
  }
}

/** Fuzzes a target until it breaks or `goesOn` says no. */
export async function fuzz(
  target: Target,
  seed: number,
  tally: Tally,
  goesOn: (tally: Tally) => boolean,
): Promise<Finding | null> {
  const recordings = loadCorpus(target.corpus)
  const others = recordings.map((recording) => recording.bytes)
  const format = FORMATS[target.corpus]
  const random = new Random(seed)
  while (goesOn(tally)) {
    const original = random.pick(recordings)
    const bytes = mutate(original.bytes, others, format, random)
    const input = { ...original, bytes }
    const trialSeed = random.next()
    tally.executions++
    tally.bytes += bytes.length
    const error = await trial(target, input, trialSeed)
    if (error !== null) return { target: target.name, seed: trialSeed, input, error }
  }
  return null
}

/** Leaves out what the fault does not need: larger parts first, then smaller ones, then single bytes. */
export async function minimise(target: Target, finding: Finding): Promise<Finding> {
  let { input, error } = finding
  let attempts = 0
  for (let size = input.bytes.length >> 1; size >= 1 && attempts < MAX_ATTEMPTS; ) {
    let isSmaller = false
    for (let at = 0; at < input.bytes.length && attempts < MAX_ATTEMPTS; ) {
      const { bytes } = input
      const shorter = { ...input, bytes: Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + size)]) }
      attempts++
      const fault = await trial(target, shorter, finding.seed)
      if (fault !== null && isSameFault(fault, error)) {
        input = shorter
        error = fault
        isSmaller = true
      } else {
        at += size
      }
    }
    if (!isSmaller || size > input.bytes.length) size >>= 1
  }
  return { ...finding, input, error }
}

/** A shorter input must not lead to another fault than the one that was found. */
function isSameFault(a: Error, b: Error): boolean {
  return a.name === b.name && placeOf(a) === placeOf(b)
}

/** Where it was thrown: messages hold the bytes, which change. */
function placeOf(error: Error): string {
  return /\n\s+at .*/.exec(error.stack ?? '')?.[0] ?? error.message
}
