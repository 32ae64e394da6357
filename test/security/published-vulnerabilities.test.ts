/** The tables of known vulnerabilities: each test that they name is there, and names the vulnerability. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

const root = new URL('../../', import.meta.url)
const read = (path: string, from: URL = root): string => readFileSync(new URL(path, from), 'utf8')

/** Titles of tests and suites, `CVE-2019-9511 to CVE-2019-9518` not among them. */
function titles(path: string, from: URL = root): string {
  const calls = read(path, from).matchAll(/\b(?:test|it|describe|overEachWire)\(\s*(['"`])((?:(?!\1).)*)\1/g)
  return [...calls].map(([, , title]) => title).join('\n')
}

const LINK = /\]\(([^)]+\.ts)\)/g
const ID = /CVE-\d{4}-\d{4,6}|GHSA-[a-z0-9-]{4,}/g

describe('the table of undici in SECURITY.md', () => {
  const rows = [...read('SECURITY.md').matchAll(/^\| (CVE-\d{4}-\d+) \| [^|]+ \| (.+) \|$/gm)]

  test('has a test for each, which names it', () => {
    assert.ok(rows.length >= 30)
    for (const [, id, links] of rows) {
      const files = [...links!.matchAll(LINK)].map(([, file]) => file!)
      assert.ok(files.length > 0, id)
      for (const file of files) assert.match(titles(file), new RegExp(`\\b${id}\\b`), `${id} in ${file}`)
    }
  })

  test('is in order and complete: what test/security/README.md has of undici since 2024', () => {
    const [, section] = /^## undici\n([\s\S]*?)^## /m.exec(read('test/security/README.md'))!
    const recent = [...section!.matchAll(ID)].map(([id]) => id).filter((id) => /^CVE-202[4-9]/.test(id))
    const ids = rows.map(([, id]) => id!)
    assert.deepEqual(ids, [...new Set(recent)].sort(byNumber))
  })
})

test('each vulnerability of test/security/README.md is named by a test of its row', () => {
  const folder = new URL('test/security/', root)
  const rows = read('test/security/README.md')
    .split('\n')
    .filter((line) => line.startsWith('|') && line.includes('.test.ts)'))
  assert.ok(rows.length > 10)
  for (const row of rows) {
    const named = [...row.matchAll(LINK)].map(([, file]) => read(file!, folder)).join('\n')
    const [, ids] = row.split('|')
    // A range stands for all in it, and the tests name those they are about.
    for (const [id] of ids!.replace(/\S+ to \S+/g, '').matchAll(ID)) assert.ok(named.includes(id), id)
  }
})

function byNumber(a: string, b: string): number {
  const [x, y] = [a, b].map((id) => id.split('-').slice(1).map(Number) as [number, number]) as [
    [number, number],
    [number, number],
  ]
  return x[0] - y[0] || x[1] - y[1]
}
