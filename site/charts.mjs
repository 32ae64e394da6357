// The charts of the site: figures of docs/figures/ as bars, each with a table of the same figures. Bars and scenarios are
// the benchmark's own (bench/bars.mjs, bench/chart.mjs).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inlinePanel } from '../bench/bars.mjs'
import { CHARTS, panelsOf } from '../bench/chart.mjs'
import { format, machineLine } from '../bench/report.mjs'
import { escapeHtml } from './markdown.mjs'
import { root } from './pages.mjs'

/** Chart → the file with its figures. */
const FILES = {
  requests: 'saturated',
  cpu: 'saturated',
  'paced-cpu': 'paced',
  latency: 'paced',
}

/** The medians beside it have another quotient, and with few rounds it can be a very different one. */
const RATIO =
  '× is how many times better ventuno is: the median of one ratio per round, not the quotient of the medians.'

const SUITES_TITLE = 'Suites that nobody here wrote: cases and tests that pass'

export function readFigures(name) {
  return JSON.parse(readFileSync(join(root, 'docs/figures', `${name}.json`), 'utf8'))
}

/** The HTML of a chart; empty if nothing of it was measured. */
export function chartHtml(name) {
  if (name === 'suites') {
    const { versions, suites } = readFigures('suites')
    const note = Object.entries(versions).map((entry) => entry.join(' '))
    return figure(SUITES_TITLE, suites.map(suitePanel), `Measured from outside with ${note.join(', ')}.`)
  }
  if (FILES[name] === undefined) throw new Error(`there is no chart "${name}"`)
  const { scenarios, machine, date } = readFigures(FILES[name])
  return figure(
    CHARTS[name].title,
    panelsOf(CHARTS[name], scenarios),
    `${RATIO} ${machineLine(machine)}; ${date.slice(0, 10)}.`,
  )
}

function suitePanel({ title, of, results }) {
  const bars = results.map(({ name, passed }) => ({
    name,
    value: passed,
    ...(of === null ? {} : { of }),
    text: format(passed, 0),
    kind: name === 'ventuno' ? 'subject' : 'peer',
  }))
  return { title, bars }
}

function figure(title, panels, note) {
  if (panels.length === 0) return ''
  const drawn = panels.map(
    (panel) =>
      `<div class="panel"><p>${escapeHtml(panel.title)}</p>${inlinePanel(panel, `Bars: ${panel.title}. The table has the figures.`)}</div>`,
  )
  const rows = panels.flatMap((panel) =>
    panel.bars.map(
      ({ name, text }, i) =>
        `<tr>${i === 0 ? `<th scope="rowgroup" rowspan="${panel.bars.length}">${escapeHtml(panel.title)}</th>` : ''}<td>${escapeHtml(name)}</td><td>${escapeHtml(text)}</td></tr>`,
    ),
  )
  return `<figure class="chart">
<figcaption>${escapeHtml(title)}</figcaption>
<div class="panels">${drawn.join('\n')}</div>
<details><summary>The same as a table</summary>
<div class="table"><table><tbody>
${rows.join('\n')}
</tbody></table></div></details>
<p class="note">${escapeHtml(note)}</p>
</figure>
`
}
