/** The histogram of many latencies, and the report of a measurement. Latencies are in milliseconds, sorted. */

import type { Verdict } from './expectation.ts'
import type { Measurement } from './load.ts'
import { percentile, summarise } from './percentiles.ts'
import { solid } from './phases.ts'
import { failureLines, sections, statusStyle } from './report.ts'
import { bytes, clean, count, milliseconds, type TextLayout } from './text-layout.ts'

export interface Bucket {
  readonly from: number
  /** Exclusive; null for the last one, which has all that is slower. */
  readonly to: number | null
  readonly count: number
}

/** Keeps a value on the line of its name. */
const JOINED = '\u00a0'

/** Those of the report. */
const PERCENTILES = [
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
  ['p999', 'p99.9'],
  ['max', 'max'],
] as const

/** Rows of the histogram, without the last one, for what is slower. */
const ROWS = 10

/** Buckets of one round width from the fastest to the 99th percentile, and one for the rest. */
export function buckets(sorted: Float64Array): Bucket[] {
  if (sorted.length === 0) return []
  const [fastest, slow] = [sorted[0]!, percentile(sorted, 0.99)]
  const step = roundStep((slow - fastest) / ROWS)
  const edge = (index: number): number => Number((index * step).toFixed(9))
  const list: Bucket[] = []
  let at = 0
  for (let index = Math.floor(fastest / step); edge(index) <= slow; index++) {
    const begin = at
    while (at < sorted.length && sorted[at]! < edge(index + 1)) at++
    list.push({ from: edge(index), to: edge(index + 1), count: at - begin })
  }
  const rest = { from: list.at(-1)!.to!, to: null, count: sorted.length - at }
  return rest.count === 0 ? list : [...list, rest]
}

/** The next of 1, 2 and 5 times a power of ten, at least a hundredth of a millisecond. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 0.01)))
  return [1, 2, 5, 10].map((factor) => Number((factor * power).toFixed(9))).find((step) => step >= least)!
}

/** The report of a measurement. */
export function measurementReport(measurement: Measurement, layout: TextLayout): string {
  const { method, url, requests, concurrency, rate, latencies, failures, isInterrupted } = measurement
  const pace = rate === null ? '' : `, ${count(rate, 'request')} due per second`
  return sections([
    [
      ...layout.lines(clean(`${method} ${url}`), 'bold'),
      ...layout.lines(`${count(requests, 'request')}, ${concurrency} at a time${pace}`, 'dim'),
      ...(isInterrupted ? [layout.paint('yellow', 'interrupted')] : []),
    ],
    factRows(measurement, layout),
    pictureRows(buckets(latencies), layout),
    ...[...failures.values()].map((failure) =>
      failureLines({ ...failure, code: `${failure.code} × ${failure.count}` }, layout),
    ),
    measurement.expectations.flatMap((verdict) => verdictLines(verdict, layout)),
  ])
}

function verdictLines({ text, actual, isMet }: Verdict, layout: TextLayout): string[] {
  const isTime = !/^(?:errors|rate)/.test(text)
  const shown = isTime
    ? milliseconds(actual ?? 0)
    : text.endsWith('%')
      ? percent(actual ?? 0)
      : short(actual ?? 0)
  const found = actual === null ? 'nothing was measured' : `it is ${shown}`
  return layout.lines(`${isMet ? 'met' : 'NOT MET'}: ${text}, ${found}`, isMet ? 'green' : 'red')
}

const short = (value: number): string => String(Number(value.toFixed(1)))
const percent = (share: number): string => `${Number((share * 100).toFixed(2))}%`

function factRows(measurement: Measurement, layout: TextLayout): string[] {
  const { duration, statuses, protocols, connections, latencies, unfinished } = measurement
  const perSecond = (amount: number): number => Math.round((amount * 1000) / duration)
  const status = [...statuses].sort(([a], [b]) => a - b)
  const summary = summarise(latencies)
  const latency = PERCENTILES.map(
    ([key, name]) => summary && `${name} ${milliseconds(summary[key])}`.replaceAll(' ', JOINED),
  )
  const rows = [
    ['protocol', `${protocols.join(', ') || 'none'}, ${count(connections, 'connection')}`],
    [
      'status',
      status.map(([code, times]) => `${layout.paint(statusStyle(code), String(code))} × ${times}`).join('  '),
    ],
    ['missing', unfinished === 0 ? '' : `${count(unfinished, 'request')} without an answer at the end`],
    ['duration', milliseconds(duration)],
    ['rate', `${count(perSecond(latencies.length), 'request')}/s, ${bytes(perSecond(measurement.bytes))}/s`],
    ['latency', latency.join('  ').trim()],
  ]
  return rows
    .filter(([, value]) => value !== '')
    .map(([label, value]) => layout.row(label!, 8, value!).replaceAll(JOINED, ' '))
}

function pictureRows(list: readonly Bucket[], layout: TextLayout): string[] {
  const most = Math.max(...list.map((bucket) => bucket.count))
  // As many decimals as the width of a bucket has, so that no two labels are equal.
  const digits =
    list.length === 0 ? 0 : Math.max(0, Math.ceil(-Math.log10(list[0]!.to! - list[0]!.from) - 1e-6))
  const labels = list.map(({ from, to }) => `${to === null ? '≥ ' : ''}${from.toFixed(digits)} ms`)
  const labelWidth = Math.max(...labels.map((label) => label.length))
  const countWidth = String(most).length
  const room = layout.columns - labelWidth - countWidth - 6
  return list.map(({ count: number }, i) => {
    const share = number === 0 ? '' : layout.paint('cyan', solid((number / most) * room))
    return `  ${labels[i]!.padStart(labelWidth)}  ${String(number).padStart(countWidth)}  ${share}`.trimEnd()
  })
}
