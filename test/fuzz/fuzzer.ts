/** Runs targets on mutated recordings, and minimises the inputs that break one. */
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

/** Maximum number of attempts to minimise a finding. */
const MAX_ATTEMPTS = 2_000

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const

/**
 * Uncaught errors, which are findings of the target that runs at the time. Other listeners, such as a test runner, are
 * detached meanwhile.
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

/** The fault of the target with this input; null if there is none. */
export async function trial(target: Target, input: Recording, seed: number): Promise<Error | null> {
  uncaught.open()
  try {
    // Most targets need no turn of the event loop, and waiting for one would cost more than the target itself.
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

/** Fuzzes a target until it breaks or `goesOn` returns false. */
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

/** Removes everything that the fault does not need: larger parts first, then smaller ones, then single bytes. */
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

/** A shorter input must lead to the same fault. */
function isSameFault(a: Error, b: Error): boolean {
  return a.name === b.name && placeOf(a) === placeOf(b)
}

/** Where it was thrown: messages contain the bytes, which change. */
function placeOf(error: Error): string {
  return /\n\s+at .*/.exec(error.stack ?? '')?.[0] ?? error.message
}
