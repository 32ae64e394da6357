// Shows the steps of the tour: the request, the response, where the time went, and the events.

import { phasesOf, segments } from '../../src/cli/phases.ts'
import { clean, milliseconds, type Output, type TextLayout, width, wrap } from '../../src/cli/text-layout.ts'
import type { Client, Timings } from '../../src/index.ts'

/** The result of a step. */
export interface Shown {
  readonly sent: string
  readonly received: string
  readonly timings?: Timings | null
}

const TITLE_WIDTH = 14
const BAR_WIDTH = 12
const TIME_WIDTH = 9

/** Phases in the order of a request, distinguishable without colour. */
const SHADES: Readonly<Record<string, string>> = {
  connect: '░',
  tls: '▒',
  'first byte': '▓',
  waiting: '▓',
  download: '█',
}

export const LEGEND = '░ connect  ▒ tls  ▓ first byte  █ download'

export class Stage {
  readonly #output: Output
  readonly #layout: TextLayout
  #events: string[] = []
  #failures = 0

  constructor(output: Output, layout: TextLayout) {
    this.#output = output
    this.#layout = layout
  }

  get failures(): number {
    return this.#failures
  }

  heading(title: string, note: string): void {
    const gap = ' '.repeat(Math.max(1, this.#layout.columns - width(title) - width(note)))
    this.#print('', `${this.#layout.paint('bold', title)}${gap}${this.#layout.paint('dim', note)}`)
  }

  /** From now on these events of the client belong to the step that is running. */
  watch(client: Client, names: readonly ('connect' | 'drain')[]): void {
    for (const name of names) client.on(name, () => this.#events.push(name))
    client.on('disconnect', (_origin, _targets, error: Error) =>
      this.#events.push(`disconnect: ${error.message}`),
    )
  }

  /** Runs a step and shows it. An exception is a failure of the tour. */
  async step(title: string, action: () => Promise<Shown>): Promise<void> {
    let shown: Shown
    try {
      shown = await action()
    } catch (error) {
      this.#failures++
      shown = { sent: '', received: `FAILED: ${(error as Error).stack ?? error}` }
    }
    const { sent, received, timings } = shown
    const layout = this.#layout
    const side = timings ? this.#bar(timings) : ''
    const room = layout.columns - TITLE_WIDTH - 4
    const beside = timings ? room - BAR_WIDTH - TIME_WIDTH - 2 : room
    const lines = wrap(clean(sent), beside).map((line, i) => {
      const end = i === 0 && side !== '' ? ' '.repeat(beside - width(line)) + side : ''
      return (i === 0 ? `${layout.paint('dim', '→')} ` : '  ') + line + end
    })
    for (const [i, line] of wrap(clean(received), room).entries()) {
      lines.push((i === 0 ? `${layout.paint('dim', '←')} ` : '  ') + line)
    }
    const events = clean(this.#events.splice(0).join(' · '))
    if (events !== '') lines.push(...wrap(`· ${events}`, room).map((line) => layout.paint('dim', line)))
    this.#print(
      ...lines.map(
        (line, i) =>
          `  ${i === 0 ? layout.paint('cyan', title.padEnd(TITLE_WIDTH)) : ' '.repeat(TITLE_WIDTH)}${line}`,
      ),
    )
  }

  summary(text: string): void {
    this.#print('', this.#layout.paint(this.#failures === 0 ? 'green' : 'red', text))
  }

  #print(...lines: string[]): void {
    this.#output.write(`${lines.join('\n')}\n`)
  }

  /** All phases in one bar, each at least one cell wide, and how long they took. */
  #bar(timings: Timings): string {
    const phases = phasesOf(timings, { started: timings.queued, resolved: null })
    const parts = segments(phases)
    const sum = parts.reduce((total, { length }) => total + length, 0) || 1
    let end = 0
    let drawn = 0
    const bar = parts.map(({ label, style, length }) => {
      end += (length / sum) * (BAR_WIDTH - parts.length)
      const cells = 1 + Math.round(end) - drawn
      drawn = Math.round(end)
      return this.#layout.paint(style, SHADES[label]!.repeat(cells))
    })
    const blank = ' '.repeat(parts.length === 0 ? BAR_WIDTH : 0)
    return `  ${bar.join('')}${blank}${milliseconds(phases.total).padStart(TIME_WIDTH)}`
  }
}
