// The table for the documents: a row for each scenario, ventuno beside undici.
import { SUBJECT } from './candidates/index.mjs'
import { format } from './report.mjs'

const PEER = 'undici'

/** Metrics of a row: the first one of its scenario, then these if it has them. */
const MORE = ['cpu', 'garbage']

export function markdownTable(results) {
  const lines = [
    `| | ${SUBJECT} | ${PEER} | times | CPU µs | ${PEER} | times | heap bytes | ${PEER} | times |`,
    '|---|---|---|---|---|---|---|---|---|---|',
  ]
  for (const { name: scenario, metrics, candidates } of results) {
    const own = candidates.find(({ name }) => name === SUBJECT)
    const other = candidates.find(({ name }) => name === PEER)
    if (!own?.metrics || !other?.metrics) continue
    const [first, ...rest] = metrics
    const shown = [first, ...MORE.map((key) => rest.find((metric) => metric.key === key))]
    lines.push(`| \`${scenario}\` | ${shown.flatMap((metric) => cells(metric, own, other)).join(' | ')} |`)
  }
  return `${lines.join('\n')}\n`
}

function cells(metric, own, other) {
  if (metric === undefined) return ['', '', '']
  const { key, digits } = metric
  const places = Math.min(digits, 1)
  const { median, min, max } = other.advantage[key]
  return [
    format(own.metrics[key].median, places),
    format(other.metrics[key].median, places),
    `${format(median, 2)} (${format(min, 2)}–${format(max, 2)})`,
  ]
}
