/**
 * A program that leaves every second body unread, in real time, against an origin that misbehaves. It must survive,
 * each of its requests must settle, and no connection may be left at the end.
 */
import {
  Agent,
  type BodyReadable,
  Client,
  type Dispatcher,
  errors,
  H2CClient,
  Pool,
} from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import type { Wire } from '../support/wire.ts'
import { CarelessOrigin } from './careless-origin.ts'
import type { Random } from './random.ts'
import { read, type Way } from './reader.ts'
import { answerTo, LARGE, pathOf } from './traffic.ts'

/** Ways to read a body without additional delay. */
const WAYS: Partial<Record<Way, number>> = {
  text: 6,
  bytes: 2,
  blob: 1,
  iterate: 3,
  'iterate and give away': 2,
  data: 2,
  'data and give away': 2,
  readable: 2,
  pipe: 2,
  pipeline: 2,
  web: 2,
  half: 2,
  dump: 2,
  destroy: 2,
}

/** Ways that do not end with the whole body. */
const PARTLY: readonly Way[] = ['half', 'dump', 'destroy']

/**
 * The assumption of such a program. `small`: an unread body that fits into `highWaterMark` costs nothing. `limited`:
 * larger ones occupy their connection, and each request has a time limit. `endless`: they occupy it until the
 * dispatcher is destroyed.
 */
export const HABITS = ['small', 'limited', 'endless'] as const
export type Habit = (typeof HABITS)[number]

/** Milliseconds for a whole request with a limit; otherwise for a head or a piece of a body. */
const LIMIT = 600
const TIMEOUT = 400
/** Milliseconds for everything that must end by itself. */
const PATIENCE = 20_000
const OUTSTANDING = 64
/** One request in this many meets a misbehaving origin. */
const TROUBLE = 4

export interface CarelessReport {
  readonly requests: number
  readonly succeeded: number
  readonly unread: number
  readonly connections: number
  readonly problems: readonly string[]
}

export class CarelessRun {
  readonly #wire: Wire
  readonly #habit: Habit
  readonly #random: Random
  readonly #problems: string[] = []
  #settled = 0
  #succeeded = 0
  #unread = 0
  /** Bodies that such a program keeps and never reads. */
  readonly #forgotten: BodyReadable[] = []

  constructor(wire: Wire, habit: Habit, random: Random) {
    this.#wire = wire
    this.#habit = habit
    this.#random = random
  }

  async run(requests: number): Promise<CarelessReport> {
    const origin = new CarelessOrigin(this.#wire, this.#random)
    const url = await origin.start()
    const dispatcher = this.#dispatcher(url)
    const before = tcpHandles()
    try {
      const running = new Set<Promise<void>>()
      for (let id = 0; id < requests; id++) {
        origin.chaos.behaves = !this.#random.oneIn(TROUBLE)
        const request = this.#request(dispatcher, url, id).finally(() => running.delete(request))
        running.add(request)
        while (running.size >= OUTSTANDING) await Promise.race(running)
      }
      if (this.#habit !== 'endless') await within(Promise.all(running), 'all requests settle')
      await within(this.#habit === 'endless' ? dispatcher.destroy() : dispatcher.close(), 'close()')
      await within(Promise.all(running), 'all requests settle')
      if (this.#settled !== requests)
        this.#problems.push(`${requests - this.#settled} requests have not settled`)
      await within(
        until(() => tcpHandles() - before <= origin.sockets.size),
        'the sockets close',
      )
    } catch (error) {
      this.#problems.push((error as Error).message)
    } finally {
      this.#problems.push(...origin.chaos.violations)
      await dispatcher.destroy()
      await origin.stop()
    }
    return {
      requests,
      succeeded: this.#succeeded,
      unread: this.#unread,
      connections: origin.connections,
      problems: this.#problems,
    }
  }

  #dispatcher(url: string): Dispatcher {
    const rest = { headersTimeout: TIMEOUT, bodyTimeout: TIMEOUT, keepAliveTimeout: 500 }
    const options = { ...rest, connect: { ca: authority } }
    const useH2c = this.#wire.name === 'h2c'
    // A client has one connection over HTTP/1.1, which the first large unread body would occupy.
    const kind = this.#random.pick(this.#habit === 'small' ? ['client', 'pool', 'agent'] : ['pool', 'agent'])
    if (kind === 'client') return useH2c ? new H2CClient(url, rest) : new Client(url, options)
    return kind === 'pool' ? new Pool(url, { ...options, useH2c }) : new Agent({ ...options, useH2c })
  }

  async #request(dispatcher: Dispatcher, url: string, id: number): Promise<void> {
    const random = this.#random
    const number = this.#habit !== 'small' && random.oneIn(8) ? LARGE + id : id
    const signal = this.#habit === 'limited' ? AbortSignal.timeout(LIMIT) : undefined
    const way = random.weighted(WAYS as Record<Way, number>)
    try {
      const options = { origin: url, path: pathOf(number), method: 'GET' as const, signal }
      const { body } = await dispatcher.request(options)
      if (id % 2 === 0) {
        this.#unread++
        if (random.oneIn(4)) this.#forgotten.push(body)
      } else {
        const text = await read(body, way, random)
        if (!PARTLY.includes(way) && text !== answerTo(number))
          this.#problems.push(`request ${id}: another body`)
      }
      this.#succeeded++
    } catch (error) {
      if (!isKnown(error)) this.#problems.push(`request ${id} (${way}): ${(error as Error)?.stack ?? error}`)
    }
    this.#settled++
  }
}

const KNOWN = /^(UND_ERR|HPE_|ECONN|EPIPE|ERR_STREAM_PREMATURE_CLOSE|ERR_HTTP2)/

function isKnown(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return error instanceof errors.UndiciError || KNOWN.test(String(code)) || name === 'TimeoutError'
}

/** All sockets of the process: the server's and the client's. */
function tcpHandles(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length
}

function patience(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await patience(1)
}

async function within(work: Promise<unknown>, what: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${PATIENCE} ms: ${what}`)), PATIENCE)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
