/** Many requests at a time, for a while, with their results. */
import assert from 'node:assert/strict'
import { type Client, errors } from '../../src/index.ts'
import { SMALL } from './content.ts'

type RequestFailure = Error & { retrySafety?: string }

/** If everything fails, more failures add no information. */
const ENOUGH_FAILURES = 1_000

/** The beginnings of HEADERS with a short field block and of WINDOW_UPDATE: what a client sends most. */
const CLIENT_FRAMES = ['\x00\x00\x04\x01', '\x00\x00\x04\x08']

export class Load {
  readonly failures: RequestFailure[] = []
  succeeded = 0
  /** Responses into which the server has put frames that it had received. */
  mixed = 0
  readonly #client: Client
  readonly #text: string = SMALL.toString('latin1')
  readonly #milestones: { readonly at: number; readonly reached: () => void }[] = []
  readonly #finished: Promise<unknown>
  #left: number

  /** `concurrency` requests at a time, until `total` were sent or it is stopped. */
  constructor(client: Client, concurrency: number, total: number = Number.POSITIVE_INFINITY) {
    this.#client = client
    this.#left = total
    this.#finished = Promise.all(Array.from({ length: concurrency }, () => this.#run()))
  }

  /** Resolves after this many more successes, or when it is over. */
  async progress(more: number): Promise<void> {
    const at = this.succeeded + more
    const milestone = new Promise<void>((reached) => this.#milestones.push({ at, reached }))
    await Promise.race([milestone, this.#finished])
  }

  async stop(): Promise<void> {
    this.#left = 0
    await this.#finished
  }

  async end(): Promise<this> {
    await this.#finished
    return this
  }

  async #run(): Promise<void> {
    while (this.#left > 0 && this.failures.length < ENOUGH_FAILURES) {
      this.#left--
      try {
        const { statusCode, body } = await this.#client.request({ path: '/small.txt', method: 'GET' })
        const received = Buffer.from(await body.bytes()).toString('latin1')
        assert.equal(statusCode, 200)
        if (CLIENT_FRAMES.some((beginning) => received.startsWith(beginning))) {
          this.mixed++
          continue
        }
        assert.equal(received, this.#text)
        this.succeeded++
      } catch (error) {
        this.failures.push(error as RequestFailure)
        // Over: the client or the test has ended.
        if (error instanceof errors.ClientDestroyedError) return
      }
      for (const { at, reached } of this.#milestones) if (this.succeeded >= at) reached()
    }
  }
}

/** All succeeded, and this many. */
export function assertAllSucceeded({ failures, succeeded }: Load, expected: number = succeeded): void {
  assert.ok(failures.length === 0, `${failures.length} failed, the first: ${failures[0]?.stack}`)
  assert.equal(succeeded, expected)
}

/** No request failed that could simply have been sent again. */
export function assertNothingNeedless({ failures }: Load): void {
  for (const failure of failures) {
    assert.ok(failure.retrySafety !== undefined, `not a failure of a request: ${failure.stack}`)
    assert.notEqual(failure.retrySafety, 'safe', failure.stack)
  }
}
