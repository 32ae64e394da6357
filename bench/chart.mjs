// The bar chart for the README: requests per second, one panel for each scenario, each with its own scale.
import { isPeer, SUBJECT } from './candidates/index.mjs'
import { format } from './report.mjs'

/** Scenarios of the chart that were measured, or, if none was, all throughput scenarios. */
const CHARTED = ['h1-get', 'h1-pipeline-10', 'h1-pool-50', 'h1-post-1k', 'h2c-100', 'h2-100', 'h2c-64k']

const WIDTH = 760
const LABEL = 110
const BAR_LEFT = LABEL + 10
const BAR_WIDTH = 470
const ROW = 22
const PANEL_HEAD = 34

export function chart(results, machine) {
  const throughput = results.filter(({ kind }) => kind === 'throughput')
  const listed = throughput.filter(({ name }) => CHARTED.includes(name))
  const panels = []
  let y = 44
  for (const result of listed.length > 0 ? listed : throughput) {
    const bars = barsOf(result)
    if (bars.length < 2) continue
    panels.push(panel(result.title, bars, y))
    y += PANEL_HEAD + bars.length * ROW + 14
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 24}" width="${WIDTH}" height="${y + 24}" role="img" aria-labelledby="title">
<title id="title">Requests per second of ventuno and other HTTP clients</title>
<style>
  text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .head { font-size: 16px; font-weight: 600 }
  .panel { font-weight: 600 }
  .quiet { fill: #59636e; font-size: 12px }
  .bar { fill: #afb8c1 }
  .subject { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .bar { fill: #545d68 }
    .subject { fill: #4493f8 }
  }
</style>
<text class="head" x="0" y="20">Requests per second on one core (more is better)</text>
${panels.join('\n')}
<text class="quiet" x="0" y="${y + 12}">${escapeXml(machine)}</text>
</svg>
`
}

function barsOf({ candidates }) {
  return candidates
    .filter(({ name, metrics }) => metrics !== null && (name === SUBJECT || isPeer(name)))
    .map(({ name, metrics, advantage }) => ({
      name,
      rps: metrics.rps.median,
      ratio: advantage?.rps?.median ?? null,
    }))
    .sort((a, b) => b.rps - a.rps)
}

function panel(title, bars, top) {
  const most = bars[0].rps
  const rows = bars.map(({ name, rps, ratio }, i) => {
    const y = top + PANEL_HEAD - 10 + i * ROW
    const width = Math.max(2, Math.round((rps / most) * BAR_WIDTH))
    const behind = ratio === null ? '' : ` · ventuno × ${format(ratio, 1)}`
    return `<text x="${LABEL}" y="${y + 12}" text-anchor="end">${escapeXml(name)}</text>
<rect class="bar${name === SUBJECT ? ' subject' : ''}" x="${BAR_LEFT}" y="${y}" width="${width}" height="16" rx="3"/>
<text class="quiet" x="${BAR_LEFT + width + 8}" y="${y + 12}">${format(rps, 0)}${behind}</text>`
  })
  return `<text class="panel" x="0" y="${top + 12}">${escapeXml(title)}</text>\n${rows.join('\n')}`
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
