/** A chaos run in memory, where one thing happens at a time: the seed determines it completely. */
import type { ClientOptions } from '../../src/index.ts'
import { type Link, Network } from '../torture/memory-network.ts'
import { ChaosRun, type Mischief } from './chaos-run.ts'
import type { ChaosReport } from './report.ts'

export class MemoryChaos extends ChaosRun {
  protected readonly wire: string
  protected readonly url: string
  protected readonly calmTurns = 5
  readonly #network: Network

  constructor(seed: number, requests: number) {
    super(seed, requests, null)
    this.wire = `${this.protocol} in memory`
    this.url = this.protocol === 'h2' ? 'https://origin.test' : 'http://origin.test'
    this.#network = new Network(this.protocol === 'h2' ? 'h2' : null, (link) => {
      this.connections++
      this.origin.accept(link)
    })
    this.#network.pick = (lanes) => this.random.pick(lanes)
    this.#network.intercept = ({ kind, bytes, link }) => {
      this.note(`${kind} ${link.number} ${bytes?.length ?? 0}`)
      return false
    }
  }

  async run(): Promise<ChaosReport> {
    // The client measures round trips and sizes its windows accordingly.
    Object.defineProperty(performance, 'now', { value: () => this.clock.now, configurable: true })
    try {
      return await this.rampage()
    } finally {
      Reflect.deleteProperty(performance, 'now')
    }
  }

  protected clientOptions(): ClientOptions {
    return { connect: this.#network.connector }
  }

  protected deliver(): void {
    this.#network.step()
  }

  protected listen(on: boolean): void {
    this.#network.listening = on
  }

  protected makeTrouble(what: Mischief): boolean {
    const links = this.#network.links.filter(({ client, isConnected }) => isConnected && !client.destroyed)
    if (links.length === 0) return false
    const link = this.random.pick(links)
    if (what === 'fin' || what === 'rst') link.kill(what)
    else if (what === 'restart') for (const each of links) each.kill(this.random.pick(['fin', 'rst']))
    else link.stalled = true
    if (what === 'pause') {
      globalThis.setTimeout(() => {
        link.stalled = false
      }, this.pauseTime())
    }
    return true
  }

  protected get openConnections(): number {
    return this.#network.links.filter(({ isConnected, isOpen }) => isConnected && isOpen).length
  }

  protected recover(): void {
    for (const link of this.#network.links) link.stalled = false
  }

  protected inspectConnections(): void {
    for (const link of this.#network.links) if (link.isConnected) this.#inspect(link)
  }

  #inspect({ client, number }: Link): void {
    if (!client.destroyed) this.problems.push(`connection ${number} is left open`)
    for (const event of ['data', 'drain', 'end', 'readable', 'close']) {
      const count = client.listenerCount(event)
      if (count > 0) this.problems.push(`connection ${number} has ${count} listeners for ${event}`)
    }
  }
}
