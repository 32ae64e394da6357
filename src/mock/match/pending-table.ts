/**
 * The table of pending interceptors, in the layout of `console.table`. Drawn here because that layout differs
 * between Node.js versions.
 */
import { loadUtil } from '../../base/node/lazy-modules.ts'
import type { PendingInterceptor } from './interception.ts'
import { shownQuery } from './secrets.ts'

/** Options of `assertNoPendingInterceptors()`. */
export interface AssertPendingOptions {
  /** Draws the list. Default: a table. */
  pendingInterceptorsFormatter?: { format(pending: readonly PendingInterceptor[]): string } | undefined
  /** Without colours, as with the environment variable `CI`. Default: false. */
  disableColors?: boolean | undefined
}

const COLUMNS = ['Method', 'Origin', 'Path', 'Status code', 'Persistent', 'Invocations', 'Remaining'] as const

/** Two columns wide on a terminal. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')

export function pendingMessage(
  pending: readonly PendingInterceptor[],
  options: AssertPendingOptions = {},
): string {
  const { pendingInterceptorsFormatter: formatter, disableColors = false } = options
  const count = pending.length === 1 ? '1 interceptor is' : `${pending.length} interceptors are`
  const colours = !disableColors && !process.env['CI']
  const list = formatter === undefined ? drawTable(pending.map(rowOf), colours) : formatter.format(pending)
  return `${count} pending:\n\n${list}`.trim()
}

function rowOf({ method, origin, path, data, persist, timesInvoked, times }: PendingInterceptor): unknown[] {
  const [yes, no] = process.versions['icu'] ? ['✅', '❌'] : ['Y ', 'N ']
  return [
    method,
    origin,
    typeof path === 'string' ? shownQuery(path) : path,
    data.statusCode,
    persist ? yes : no,
    timesInvoked,
    persist ? Number.POSITIVE_INFINITY : times - timesInvoked,
  ]
}

function drawTable(rows: readonly (readonly unknown[])[], colors: boolean): string {
  const { inspect } = loadUtil()
  const options = { depth: 0, maxArrayLength: 3, breakLength: Number.POSITIVE_INFINITY, colors }
  const cells = rows.map((row, i) => [String(i), ...row.map((value) => inspect(value, options))])
  const lines = [['(index)', ...COLUMNS], ...cells]
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => widthOf(line[i]!))) + 2)
  const rule = (left: string, middle: string, right: string): string =>
    left + widths.map((width) => '─'.repeat(width)).join(middle) + right
  const draw = (line: readonly string[]): string =>
    `│${line.map((cell, i) => ` ${cell}${' '.repeat(widths[i]! - widthOf(cell) - 1)}`).join('│')}│`
  const [head, ...body] = lines.map(draw)
  return [rule('┌', '┬', '┐'), head, rule('├', '┼', '┤'), ...body, rule('└', '┴', '┘')].join('\n')
}

function widthOf(text: string): number {
  return [...text.replace(COLOUR, '')].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0)
}
