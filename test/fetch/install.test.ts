/** `install()` in separate processes: it changes globals. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

const NAMES = [
  'fetch',
  'Headers',
  'Request',
  'Response',
  'FormData',
  'WebSocket',
  'CloseEvent',
  'ErrorEvent',
  'MessageEvent',
  'EventSource',
]

const program = `
const names = ${JSON.stringify(NAMES)}
const before = names.map((name) => globalThis[name])
const library = await import(${JSON.stringify(sourceUrl('src/index.ts'))})
const untouched = names.every((name, i) => globalThis[name] === before[i])
library.install()
const installed = names.filter((name) => globalThis[name] === library[name])
library.install()
const form = new FormData()
form.append('a', 'b')
const used = [
  new Headers({ a: 'b' }).get('a'),
  new Headers() instanceof Headers,
  new Request('http://localhost/').url,
  await new Response('text').text(),
  form.get('a'),
]
globalThis.fetch = null
console.log(JSON.stringify({
  untouched,
  installed,
  used,
  writable: globalThis.fetch === null,
}))
`

test('install() makes the classes global, importing does not', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...sourceLoader,
    '--input-type=module',
    '--eval',
    program,
  ])
  assert.deepEqual(JSON.parse(stdout), {
    untouched: true,
    installed: NAMES,
    used: ['b', true, 'http://localhost/', 'text', 'b'],
    writable: true,
  })
})
