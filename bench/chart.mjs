// The charts of a run: which scenarios and candidates each one shows, as panels of bars. Each panel has its own scale.
import { drawing } from './bars.mjs'
import { isPeer, SUBJECT } from './candidates/index.mjs'
import { format, machineLine } from './report.mjs'

const REQUESTS = ['h1-get', 'h1-pipeline-10', 'h1-pool-50', 'h1-post-1k', 'h2c-100', 'h2-100', 'h2c-64k']

/** What no client can beat, in the words of a chart. */
const LIMITS = {
  'floor (h1)': 'a bare socket',
  'floor (h2)': 'a bare socket',
  'floor (clock)': 'the clock alone',
}

/** - `shows`: the scenarios  - `metric`, `unit`, `better`  - `hasLimits`: also what no client can beat */
export const CHARTS = {
  requests: {
    title: 'Requests per second on one core (more is better)',
    shows: ({ name }) => REQUESTS.includes(name),
    metric: 'rps',
    unit: '',
  },
  cpu: {
    title: 'CPU time per request, every request another one (less is better)',
    shows: ({ name, kind }) => kind === 'throughput' && name.includes('real'),
    metric: 'cpu',
    unit: ' µs',
    hasLimits: true,
  },
  'paced-cpu': {
    title: 'CPU time per request at a fixed rate (less is better)',
    shows: ({ kind }) => kind === 'paced',
    metric: 'cpu',
    unit: ' µs',
    hasLimits: true,
  },
  latency: {
    title: 'The slowest request in a hundred at a fixed rate (less is better)',
    shows: ({ kind }) => kind === 'paced' || kind === 'latency',
    metric: 'p99',
    unit: ' ms',
  },
}

/** The panels of a chart; none if nothing of it was measured. `scenarios`: as `--json` writes them. */
export function panelsOf({ shows, metric, unit, hasLimits }, scenarios) {
  return scenarios
    .filter(shows)
    .map((scenario) => ({ title: scenario.title, bars: barsOf(scenario, metric, unit, hasLimits) }))
    .filter(({ bars }) => bars.length > 1)
}

/** The chart for the documents. */
export function chart(scenarios, machine) {
  const { title } = CHARTS.requests
  const listed = panelsOf(CHARTS.requests, scenarios)
  const all = { ...CHARTS.requests, shows: ({ kind }) => kind === 'throughput' }
  const panels = listed.length > 0 ? listed : panelsOf(all, scenarios)
  return drawing({ title, panels, note: machineLine(machine) })
}

function barsOf({ metrics, candidates }, key, unit, hasLimits = false) {
  const metric = metrics.find((known) => known.key === key)
  if (metric === undefined) return []
  const bars = []
  for (const { name, metrics: measured, advantage } of candidates) {
    const kind = name === SUBJECT ? 'subject' : isPeer(name) ? 'peer' : name in LIMITS ? 'limit' : null
    // Programs in C have no figure for some metrics.
    const value = measured?.[key]?.median ?? null
    if (kind === null || value === null || (kind === 'limit' && !hasLimits)) continue
    const ratio = kind === 'peer' ? advantage?.[key]?.median : undefined
    const behind = ratio === undefined ? '' : ` · ventuno × ${format(ratio, 1)}`
    bars.push({
      name: LIMITS[name] ?? name,
      value,
      kind,
      text: `${format(value, Math.min(metric.digits, value < 10 ? 2 : 1))}${unit}${behind}`,
    })
  }
  return bars.sort((a, b) => (metric.better === 'more' ? b.value - a.value : a.value - b.value))
}
