import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { EXCEPTIONS, exceptionFor } from './exceptions.ts'

const page = readFileSync(new URL('../../docs/runtimes.md', import.meta.url), 'utf8')
const suite = readdirSync(new URL('../suite', import.meta.url))

/** A section of the page. */
function section(title: string): string {
  return page.split(/^## /m).find((part) => part.startsWith(title)) ?? ''
}

for (const [runtime, title] of [
  ['bun', 'Bun\n'],
  ['deno', 'Deno\n'],
] as const) {
  const rows = EXCEPTIONS.filter((row) => row.runtime === runtime)

  test(`${runtime}: ten exceptions at most, and the documentation has the same`, () => {
    assert.ok(rows.length <= 10, String(rows.length))
    const documented = [...section(title).matchAll(/^\| (.*?) \| .* \|$/gm)].map(([, fault]) => fault)
    assert.deepEqual(
      documented.filter((fault) => fault !== 'fault').sort(),
      rows.map(({ fault }) => fault).sort(),
    )
  })

  test(`${runtime}: the exceptions name files of the suite`, () => {
    for (const { tests } of rows) {
      for (const [file] of tests.source.matchAll(/[\w-]+(?=\.test\.ts)/g)) {
        assert.ok(suite.includes(`${file}.test.ts`) || file === 'request', file)
      }
    }
  })
}

test('no test is excepted in Node', () => {
  assert.equal(exceptionFor('test/suite/tunnel-sockets.test.ts', 'over tls.TLSSocket > anything'), null)
})
