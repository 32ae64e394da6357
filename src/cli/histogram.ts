/** Statistics of many latencies, and their histogram. Latencies are in milliseconds, sorted. */
import { solid } from './phases.ts'
import type { Measurement } from './repeat.ts'
import { failureLines, sections, statusStyle } from './report.ts'
import { bytes, clean, count, milliseconds, type TextLayout } from './text-layout.ts'

export interface Bucket {
  readonly from: number
  /** Exclusive; null for the last one, which has all that is slower. */
  readonly to: number | null
  readonly count: number
}

/** Rows of the histogram, without the last one, for what is slower. */
const ROWS = 10

/** The smallest value that this share of all does not exceed (nearest rank). */
export function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
}

/** Null when there is nothing to sum up. */
export function summarise(sorted: Float64Array) {
  if (sorted.length === 0) return null
  return {
    min: sorted[0]!,
    mean: sorted.reduce((sum, value) => sum + value, 0) / sorted.length,
    p50: percentile(sorted, 0.5),
    p90: percentile(sorted, 0.9),
    p99: percentile(sorted, 0.99),
    max: sorted.at(-1)!,
  }
}

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
  const { method, url, requests, concurrency, latencies, failures } = measurement
  return sections([
    [
      ...layout.lines(clean(`${method} ${url}`), 'bold'),
      layout.paint('dim', `${count(requests, 'request')}, ${concurrency} at a time`),
    ],
    factRows(measurement, layout),
    pictureRows(buckets(latencies), layout),
    ...[...failures.values()].map((failure) =>
      failureLines({ ...failure, code: `${failure.code} × ${failure.count}` }, layout),
    ),
  ])
}

function factRows(measurement: Measurement, layout: TextLayout): string[] {
  const { duration, statuses, protocols, connections, latencies } = measurement
  const perSecond = (amount: number): number => Math.round((amount * 1000) / duration)
  const status = [...statuses].sort(([a], [b]) => a - b)
  const summary = summarise(latencies)
  const latency = (['p50', 'p90', 'p99', 'max'] as const).map(
    (key) => summary && `${key} ${milliseconds(summary[key])}`,
  )
  const rows = [
    ['protocol', `${protocols.join(', ') || 'none'}, ${count(connections, 'connection')}`],
    [
      'status',
      status.map(([code, times]) => `${layout.paint(statusStyle(code), String(code))} × ${times}`).join('  '),
    ],
    ['duration', milliseconds(duration)],
    ['rate', `${count(perSecond(latencies.length), 'request')}/s, ${bytes(perSecond(measurement.bytes))}/s`],
    ['latency', latency.join('  ').trim()],
  ]
  return rows.filter(([, value]) => value !== '').map(([label, value]) => layout.row(label!, 8, value!))
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
