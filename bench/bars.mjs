// Bars as SVG, for every chart of the project. Knows neither scenarios nor pages.
//
// A panel is `{ title, bars }`, a bar `{ name, value, text, kind }`: `kind` is 'subject', 'peer' or 'limit'. Lengths are
// percentages and texts have a size of their own, so that a panel fits any width and its texts stay readable.

const ROW = 36
const LINE = 18
const WIDTH = 760
const GAP = 40
const COLUMN = (WIDTH - GAP) / 2
/** Characters that fit: of a title a column, of the note the whole width. */
const TITLE_LENGTH = 40
const NOTE_LENGTH = 105

/** One panel without its title, for a page that has rules for the classes. `label`: what a screen reader says. */
export function inlinePanel({ bars }, label) {
  return `<svg class="bars" width="100%" height="${bars.length * ROW}" role="img" aria-label="${escapeXml(label)}">${rows(bars, 0)}</svg>`
}

/** A file with all panels in two columns, which brings its rules along. */
export function drawing({ title, panels, note }) {
  const parts = []
  let top = 44
  for (let i = 0; i < panels.length; i += 2) {
    const pair = panels.slice(i, i + 2)
    for (const [column, panel] of pair.entries()) parts.push(titledPanel(panel, column * (COLUMN + GAP), top))
    top += Math.max(...pair.map(heightOf)) + 22
  }
  const notes = wrapped(note, NOTE_LENGTH)
  const height = top + notes.length * LINE
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">${escapeXml(title)}</title>
<style>
  text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .head { font-size: 16px; font-weight: 600 }
  .title, .subject { font-weight: 600 }
  .quiet { fill: #59636e; font-size: 12px }
  .value { font-variant-numeric: tabular-nums }
  .bar.peer { fill: #8c959f }
  .bar.limit { fill: #c8d1da }
  .bar.subject { fill: #0f766e }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .bar.peer { fill: #6e7681 }
    .bar.limit { fill: #3d444d }
    .bar.subject { fill: #2dd4bf }
  }
</style>
<text class="head" x="0" y="20">${escapeXml(title)}</text>
${parts.join('\n')}
${notes.map((line, i) => `<text class="quiet" x="0" y="${top + 8 + i * LINE}">${escapeXml(line)}</text>`).join('\n')}
</svg>
`
}

function titledPanel(panel, left, top) {
  const lines = wrapped(panel.title, TITLE_LENGTH)
  const texts = lines.map(
    (line, i) => `<text class="title" x="0" y="${13 + i * LINE}">${escapeXml(line)}</text>`,
  )
  return `<svg x="${left}" y="${top}" width="${COLUMN}" height="${heightOf(panel)}">\n<title>${escapeXml(panel.title)}</title>\n${texts.join('\n')}\n${rows(panel.bars, lines.length * LINE + 4)}\n</svg>`
}

function heightOf({ title, bars }) {
  return wrapped(title, TITLE_LENGTH).length * LINE + 4 + bars.length * ROW
}

function rows(bars, top) {
  const most = Math.max(...bars.map(({ value, of }) => of ?? value))
  return bars
    .map(({ name, value, text, kind }, i) => {
      const y = top + i * ROW
      const width = Math.max(0.5, (value / most) * 100).toFixed(1)
      return `<text class="name ${kind}" x="0" y="${y + 14}">${escapeXml(name)}</text>
<text class="value ${kind}" x="100%" y="${y + 14}" text-anchor="end">${escapeXml(text)}</text>
<rect class="bar ${kind}" x="0" y="${y + 20}" width="${width}%" height="8" rx="2"/>`
    })
    .join('\n')
}

function wrapped(text, length) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trim()
    if (line.length <= length || lines.at(-1) === '') lines[lines.length - 1] = line
    else lines.push(word)
  }
  return lines
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
