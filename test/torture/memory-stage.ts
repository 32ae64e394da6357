/**
 * A run in memory: client and origin on a network where one thing happens at a time, and a clock that moves
 * when nothing else does.
 */
import type { Duplex } from 'node:stream'
import { Client, Pool } from '../../src/index.ts'
import { turns } from '../support/fake-clock.ts'
import type { Plan } from './fault.ts'
import { watchEdges, watchSocket } from './inner-edges.ts'
import { type Delivery, Network } from './memory-network.ts'
import { CLIENT_OPTIONS, type Scenario, Stage } from './stage.ts'
import { type Protocol, TortureOrigin } from './torture-origin.ts'
import { Uncaught } from './uncaught.ts'

/**
 * Turns of the event loop without an event after which nothing more happens by itself: more than the longest chain of
 * immediates in the client.
 */
const CALM_TURNS = 5

/** A run that has not ended after this many timers never ends. */
const MOST_TIMERS = 400

const UNUSABLE: ReadonlySet<string> = new Set(['socket.destroy', 'socket.on'])

export class MemoryStage extends Stage {
  readonly dispatcher: Client | Pool
  readonly url: string
  readonly #network: Network

  constructor(scenario: Scenario, protocol: Protocol, plans: readonly Plan[], pieces: number) {
    super(scenario, protocol, plans, new TortureOrigin(protocol, pieces))
    this.#network = new Network(protocol === 'h2' ? 'h2' : null, (link) => this.origin.accept(link))
    if (this.countsEdges) this.#network.onSocket = (socket) => watchSocket(socket, this.markEdge)
    this.#network.intercept = (delivery) => this.#onDelivery(delivery)
    const options = { ...CLIENT_OPTIONS, ...scenario.options, connect: this.#network.connector }
    this.url = protocol === 'h2' ? 'https://origin.test' : 'http://origin.test'
    this.dispatcher =
      scenario.pool === undefined
        ? new Client(this.url, options)
        : new Pool(this.url, { ...options, connections: scenario.pool })
    this.dispatcher.on('error', (error: unknown) => this.judge('error event', error))
    this.dispatcher.on('disconnect', (_origin, _targets, error: Error) => this.judge('disconnect', error))
  }

  async run(): Promise<string[]> {
    const uncaught = new Uncaught()
    const unwatch = this.countsEdges ? watchEdges(this.markEdge) : null
    const restore = this.clock.enable()
    Object.defineProperty(performance, 'now', { value: () => this.clock.now, configurable: true })
    try {
      this.scenario.act(this)
      await this.#play()
      this.isPlayed = true
      await this.probe(1)
      await this.close()
      this.inspect()
    } catch (error) {
      this.problems.push(`the run broke: ${(error as Error).stack}`)
    } finally {
      unwatch?.()
      Reflect.deleteProperty(performance, 'now')
      restore()
      await turns(1)
      for (const error of uncaught.stop()) {
        this.problems.push(`uncaught: ${(error as Error)?.stack ?? error}`)
      }
    }
    return this.problems
  }

  protected strike(fault: 'fin' | 'rst' | 'stall'): void {
    const link = this.#network.links.findLast(({ client, isConnected }) => isConnected && !client.destroyed)
    if (link === undefined) return
    if (fault === 'stall') link.stalled = true
    else link.kill(fault)
  }

  #onDelivery(delivery: Delivery): boolean {
    const { kind, link, bytes } = delivery
    const fault = this.number(kind, `${kind} ${link.number} ${bytes?.length ?? ''}`)
    switch (fault) {
      case null:
      case 'throw':
        return false
      case 'fin':
      case 'rst':
        if (kind === 'connect' && fault === 'rst') {
          this.#network.refuse(link)
          return true
        }
        if (kind === 'connect') this.#network.carry(delivery)
        else link.lose(delivery)
        link.kill(fault)
        return true
      case 'cut':
        link.carry({ kind, link, bytes: bytes!.subarray(0, bytes!.length >> 1) })
        link.kill('fin')
        return true
      case 'duplicate':
        link.down.waiting.unshift(delivery)
        return false
      case 'stall':
        link.stalled = true
        return true
      default:
        this.interfere(fault)
        return false
    }
  }

  protected async calm(): Promise<void> {
    for (let quiet = 0; quiet < CALM_TURNS; quiet++) {
      const before = this.activity
      const moved = this.#network.step()
      await turns(1)
      if (moved || this.activity !== before) quiet = -1
    }
  }

  protected waitFor(): Promise<void> {
    return this.calm()
  }

  async #play(): Promise<void> {
    await this.calm()
    let released = false
    for (let timers = 0; !this.isSettled; timers++) {
      if (timers > MOST_TIMERS) throw new Error('no end in sight')
      if (!this.nextTimer()) {
        if (released) break
        released = true
        for (const call of this.calls) call.release()
      }
      await this.calm()
    }
  }

  protected override inspect(): void {
    super.inspect()
    for (const { client, number, isConnected } of this.#network.links) {
      // A socket that throws instead of closing stays open, and so does one that rejected its listeners.
      if (isConnected && !this.broken.some((name) => UNUSABLE.has(name))) this.#inspectSocket(client, number)
    }
  }

  #inspectSocket(socket: Duplex, number: number): void {
    if (!socket.destroyed) this.problems.push(`connection ${number} is left open`)
    if (this.scenario.takesOver === true) return
    for (const event of ['data', 'drain', 'end', 'readable', 'close']) {
      const count = socket.listenerCount(event)
      if (count > 0) this.problems.push(`connection ${number} has ${count} listeners for ${event}`)
    }
  }
}
