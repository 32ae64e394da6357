// The programs of the guide that need other packages; `test/docs` runs those that do not.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { text } from '../support.mjs'

const path = (name) => fileURLToPath(new URL(name, import.meta.url))
const guide = readFileSync(path('../../../docs/guides/ecosystem.md'), 'utf8')

/** The programs, each under its heading. Tests for Vitest are run by the tests of the package. */
function* programs() {
  for (const section of guide.split(/^## /m).slice(1)) {
    const [heading] = section.split('\n', 1)
    const found = [...section.matchAll(/^```mjs\n([\s\S]*?)^```/gm)].map(([, program]) => program)
    for (const [index, program] of found.entries()) {
      if (!program.includes("'vitest'")) yield [index === 0 ? heading : `${heading}, ${index + 1}`, program]
    }
  }
}

/** Runs it with the library of this column; it must print the lines after the arrows. */
async function run(t, program) {
  const { PORTS, startOrigins } = await import('../../../examples/origin.mjs')
  const { ports, close } = await startOrigins(Object.fromEntries(Object.keys(PORTS).map((name) => [name, 0])))
  t.after(close)
  const actual = new Map(Object.entries(PORTS).map(([name, port]) => [`${port}`, ports[name]]))
  const source = program
    .replace(/\blocalhost:(\d+)/g, (_, port) => `localhost:${actual.get(port)}`)
    .replaceAll("'ventuno'", "'undici'")
  const file = path('../node_modules/.guide.mjs')
  writeFileSync(file, source)
  t.after(() => rmSync(file, { force: true }))
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [[code], output, errors] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ])
  assert.equal(code, 0, errors)
  const expected = [...source.matchAll(/\/\/ → (.*)$/gm)].map(([, line]) => line)
  assert.deepEqual(output.trim().split('\n'), expected)
}

export default {
  package: 'undici',
  about: 'the programs of the guide',
  row: false,
  checks: Object.fromEntries([...programs()].map(([heading, program]) => [heading, (t) => run(t, program)])),
}
