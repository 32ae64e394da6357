/** The runtime's limit of heads, `--max-http-header-size`, holds for `fetch` as for everything else. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

const INDEX = sourceUrl('src/index.ts')
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const SCRIPT = `
  const { fetch } = await import(process.argv[1])
  try {
    const response = await fetch(process.argv[2])
    console.log(response.headers.get('x-long').length)
  } catch (error) {
    console.log(error.message, error.cause.code)
  }
  process.exit()
`

for (const [option, printed] of [
  ['--max-http-header-size=65536', '40000'],
  ['--max-http-header-size=16384', 'fetch failed UND_ERR_HEADERS_OVERFLOW'],
] as const) {
  test(`with ${option}`, async (t) => {
    const server = createServer((_, response) => response.setHeader('x-long', 'x'.repeat(40_000)).end())
    t.after(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const args = [option, ...sourceLoader, '--input-type=module', '--eval', SCRIPT, INDEX, url]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT })
    assert.equal(stdout.trim(), printed)
  })
}
