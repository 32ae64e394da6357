/**
 * What text is written on: how wide it is, whether it takes colour, and how text is made to fit. It knows
 * nothing of HTTP. Whatever came from a peer goes through `clean` before it reaches a terminal, which obeys
 * escape sequences in header values as readily as ours.
 */
import type { Writable } from 'node:stream'

/** A stream that may be a terminal. */
export type Output = Writable & {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}
export type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_COLUMNS = 80
/** Below this a table has no room for its second column. */
const LEAST_COLUMNS = 40
/** Longer lines are hard to read. */
const MOST_COLUMNS = 120

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const
export type Style = keyof typeof STYLES

/** Where a report is laid out: its width, and colour or none. */
export class TextLayout {
  readonly columns: number
  readonly colour: boolean

  constructor(columns: number, colour: boolean) {
    this.columns = Math.min(MOST_COLUMNS, Math.max(LEAST_COLUMNS, columns))
    this.colour = colour
  }

  /** Colour is for terminals, and not for those who set NO_COLOR (no-color.org). */
  static for(output: Output, env: Environment): TextLayout {
    const colour = output.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
    return new TextLayout(output.columns || DEFAULT_COLUMNS, colour)
  }

  paint(style: Style, text: string): string {
    return this.colour && text !== '' ? `\x1b[${STYLES[style]}m${text}\x1b[0m` : text
  }

  /** Label and value in two columns; a value that does not fit goes on below itself. */
  row(label: string, labelWidth: number, value: string): string {
    const below = `\n${' '.repeat(labelWidth + 4)}`
    const missing = labelWidth - width(label)
    // A label wider than its column gets a separate line.
    const gap = missing < 0 ? below : ' '.repeat(missing + 2)
    const lines = wrap(value, this.columns - labelWidth - 4)
    return `  ${this.paint('cyan', wrap(label, this.columns - 2).join('\n  '))}${gap}${lines.join(below)}`
  }

  /** The text on lines that fit, in one style. */
  lines(text: string, style: Style | null, indent = ''): string[] {
    return wrap(text, this.columns - indent.length).map(
      (line) => indent + (style ? this.paint(style, line) : line),
    )
  }
}

/** C0 and C1 controls except tab and newline, and the controls of text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them
const UNSAFE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** JSON that means the same, and is harmless to a terminal. Outside of strings it has none of these. */
export function harmless(json: string): string {
  return json.replace(UNSAFE, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Text of a peer, harmless to a terminal: control characters are shown as escapes. */
export function clean(text: string): string {
  return text.replace(UNSAFE, (sign) => {
    const code = sign.charCodeAt(0)
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`
  })
}

/** East Asian wide forms and pictographs, which take two cells. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const NO_WIDTH = /[\p{M}\u200b-\u200f\ufeff]/u

function cells(sign: string): number {
  if (sign.charCodeAt(0) < 0x300) return 1
  if (NO_WIDTH.test(sign)) return 0
  return WIDE.test(sign) ? 2 : 1
}

/** Cells a text without colour takes on a terminal. */
export function width(text: string): number {
  let sum = 0
  for (const sign of text) sum += cells(sign)
  return sum
}

/** Cuts a text into lines of at most `room` cells, between words where there is one not too far back. */
export function wrap(text: string, room: number): string[] {
  const lines = text.replaceAll('\t', '  ').split('\n')
  return lines.flatMap((line) => wrapLine(line, room))
}

function wrapLine(line: string, room: number): string[] {
  const lines: string[] = []
  let current = ''
  let used = 0
  for (const sign of line) {
    const size = cells(sign)
    if (used + size > room) {
      const space = current.lastIndexOf(' ') + 1
      const at = space > room / 3 ? space : current.length
      lines.push(current.slice(0, at).trimEnd())
      current = current.slice(at)
      used = width(current)
    }
    current += sign
    used += size
  }
  return [...lines, current]
}

const UNITS = ['kB', 'MB', 'GB', 'TB'] as const

export function bytes(count: number): string {
  if (count < 1000) return count === 1 ? '1 byte' : `${count} bytes`
  let value = count
  let unit = -1
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${UNITS[unit]}`
}

export function milliseconds(value: number): string {
  if (value >= 9999.5) return `${(value / 1000).toFixed(1)} s`
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ms`
}

export function count(number: number, one: string, many: string = `${one}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`
}
