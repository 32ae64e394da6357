// Results as text.
import { isPeer, SUBJECT } from './candidates/index.mjs'

/** Metrics with their own ratio beside the first one. */
const COMPARED = ['cpu', 'garbage', 'heap', 'rss', 'written']

export function scenarioTable({ name, title, metrics, candidates, disturbed }) {
  const ratios = metrics.filter((metric, i) => i === 0 || COMPARED.includes(metric.key))
  const header = [
    'candidate',
    ...metrics.map((metric) => metric.title),
    ...ratios.map((metric) => `× ${metric.title}`),
  ]
  const rows = candidates.map((candidate) => {
    if (candidate.metrics === null) return [candidate.name, candidate.note]
    return [
      candidate.note === null ? candidate.name : `${candidate.name} (${candidate.note})`,
      ...metrics.map(({ key, digits }) => spread(candidate.metrics[key], digits)),
      ...ratios.map(({ key }) => (candidate.advantage?.[key] ? spread(candidate.advantage[key], 2) : '')),
    ]
  })
  return `${name}: ${title}\n${columns([header, ...rows])}\n${disturbanceLine(disturbed)}`
}

/** The machine and the versions, as a line under the figures. */
export function machineLine({ cpu, cores, node, systemNode, nginx, peers }) {
  const { node: _, ...libraries } = peers
  const versions = Object.entries(libraries).map(([name, version]) => `${name} ${version}`)
  return `${cpu}, ${cores} cores; Node ${node} (system ${systemNode}); nginx ${nginx}; ${versions.join(', ')}`
}

function disturbanceLine({ runs, of, most }) {
  if (runs === 0) return ''
  return `  ${runs} of ${of} runs were disturbed: the host took up to ${format(most * 100, 0)} % of a core\n`
}

/** Programs in C have no heap of JavaScript: their column stays empty. */
export function spread({ median, min, max }, digits) {
  if (min === undefined) return ''
  return `${format(median, digits)} (${format(min, digits)}–${format(max, digits)})`
}

export function format(value, digits) {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export function columns(rows) {
  const widths = []
  for (const row of rows) {
    // A row with a note instead of figures does not widen its column.
    if (row.length !== rows[0].length) widths[0] = Math.max(widths[0] ?? 0, row[0].length)
    else for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  }
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i] ?? 0))).join('  '),
    )
    .map((text) => `  ${text.trimEnd()}`)
    .join('\n')
}

/** The goals of the project beside the results of this run. */
export function goalTable(results) {
  const rows = [['scenario', 'against', 'ratio', 'at least', 'aim', '']]
  for (const { name, kind, goals, limits, judged, metrics, candidates } of results) {
    const own = candidates.find((candidate) => candidate.name === SUBJECT)?.metrics
    for (const [key, most] of Object.entries(limits)) {
      if (!own) continue
      const { median } = own[key]
      const { title } = metrics.find((metric) => metric.key === key)
      rows.push([
        name,
        title,
        format(median, 2),
        `≤ ${format(most, 2)}`,
        '',
        median <= most ? 'reached' : 'missed',
      ])
    }
    for (const [against, [least, aim]] of Object.entries(goals)) {
      const keys = kind === 'import' ? ['ms', 'heap'] : [judged]
      for (const key of keys) {
        const ratio = candidates.find((candidate) => candidate.name === against)?.advantage?.[key]
        if (!ratio) continue
        const verdict = ratio.median >= aim ? 'aim' : ratio.median >= least ? 'reached' : 'missed'
        const label = keys.length > 1 ? `${name} (${key})` : name
        rows.push([label, against, format(ratio.median, 2), format(least, 2), format(aim, 1), verdict])
      }
    }
  }
  return rows.length === 1 ? '' : `goals\n${columns(rows)}\n`
}

/** Every peer that was better in the first metric of a scenario. */
export function slowerThanPeers(results) {
  const lines = []
  for (const { name, metrics, candidates } of results) {
    for (const candidate of candidates) {
      const ratio = candidate.advantage?.[metrics[0].key]
      if (ratio && isPeer(candidate.name) && ratio.median < 1) {
        lines.push(`  ${name}: ${candidate.name} is ahead of ${SUBJECT} (${format(ratio.median, 2)})`)
      }
    }
  }
  return lines.length === 0 ? '' : `behind a peer\n${lines.join('\n')}\n`
}
