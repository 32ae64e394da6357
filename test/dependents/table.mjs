// The results for readers: columns for the terminal, a table for the guide.
import { readFileSync, writeFileSync } from 'node:fs'

const BEGIN = '<!-- dependents:begin -->'
const END = '<!-- dependents:end -->'

const passed = ({ checks }) => [...checks.values()].filter((error) => error === null).length

/** The checks that pass with undici only. */
export function lost({ undici, ventuno }) {
  if (undici.skipped !== undefined) return []
  return [...undici.checks].flatMap(([name, error]) => {
    if (error !== null) return []
    const ours = ventuno.checks.get(name)
    return ours === null ? [] : [{ name, error: ours ?? ventuno.broken ?? 'the process ended before' }]
  })
}

const title = ({ package: name, version }) => `${name} ${version}`

export function printRow(row) {
  const { undici, ventuno } = row
  if (undici.skipped !== undefined) {
    console.log(`${title(undici).padEnd(46)}skipped: ${undici.skipped}`)
    return
  }
  const count = (column) => `${passed(column)} of ${undici.checks.size}`
  const theirs = `undici ${undici.library}: ${count(undici)}`
  console.log(`${title(undici).padEnd(46)}${theirs.padEnd(28)}ventuno: ${count(ventuno)}`)
  for (const [name, error] of undici.checks) {
    if (error !== null && ventuno.checks.get(name) !== null)
      console.log(`  fails with both: ${name}\n    ${error}`)
    else if (error !== null) console.log(`  fails with undici only: ${name}`)
  }
  for (const { name, error } of lost(row)) {
    console.log(`  FAILS WITH VENTUNO: ${name}\n    ${error.replaceAll('\n', '\n    ')}`)
  }
}

/** Puts the rows between the markers of the file. */
export function writeTable(file, rows) {
  const shown = rows.filter(({ undici }) => undici.row)
  const lines = shown.map(({ undici, ventuno }) => {
    const { about, package: name, version, library, checks, skipped } = undici
    if (skipped !== undefined) return `| ${name} ${version} | ${about} | | skipped: ${skipped} |`
    return `| ${name} ${version} | ${about} | ${passed(undici)} (${library}) | ${passed(ventuno)} of ${checks.size} |`
  })
  const table = ['| package | used for | undici | ventuno |', '|---|---|---|---|', ...lines].join('\n')
  const text = readFileSync(file, 'utf8')
  const [before, rest] = text.split(BEGIN)
  const [, after] = rest.split(END)
  writeFileSync(file, `${before}${BEGIN}\n${table}\n${END}${after}`)
}
