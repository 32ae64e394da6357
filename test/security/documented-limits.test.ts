/** SECURITY.md matches the code: its table of limits is correct, and its links lead to existing files. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const policy = read('SECURITY.md')

/** Constants are written as `10_000`, `10e3`, `256 * 1024` or `2 ** 31 - 1`. */
function evaluated(expression: string): number {
  assert.match(expression, /^[\d_e *+-]+$/)
  return Number(new Function(`return ${expression}`)())
}

test('each limit has the value that the table gives', () => {
  const rows = [...policy.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| [^|]+ \| \[(src\/[^\]]+)\]\(\3\) \|$/gm)]
  assert.equal(rows.length, [...policy.matchAll(/^\| `[A-Z_]+` \|/gm)].length)
  assert.ok(rows.length > 40)
  for (const [, name, value, file] of rows) {
    const found = new RegExp(`^(?:export )?const ${name}(?:: number)? = (.+)$`, 'm').exec(read(file!))
    assert.ok(found, `${name} is in ${file}`)
    assert.equal(evaluated(found[1]!), Number(value), name)
  }
})

test('the limits of the HTTP engines are all there', () => {
  const inside = [
    'UPDATES_EARNED_BY_DATA',
    'USEFUL_DATA_BYTES',
    'MAX_SENT_FRAME',
    'MAX_DATA_PER_TAKE',
    'COPY_LIMIT',
    'FIRST_SLAB_BYTES',
    'OUTPUT_SLAB_BYTES',
    'FIRST_CLOSED_MEMORY',
  ]
  for (const engine of ['http1', 'http2', 'websocket']) {
    const source = read(`src/protocol/${engine}/limits.ts`)
    for (const [, name] of source.matchAll(/^export const ([A-Z_]+)/gm)) {
      assert.ok(inside.includes(name!) || policy.includes(`| \`${name}\` |`), `${name} of ${engine}`)
    }
  }
})

test('defaults of options are those of the code', () => {
  const settings = read('src/dispatcher/client-options.ts') + read('src/dispatcher/http2-options.ts')
  for (const [words, code] of [
    ['`headersTimeout` and `bodyTimeout` 300 s', 'headersTimeout: option(300e3, '],
    ['`headersTimeout` and `bodyTimeout` 300 s', 'bodyTimeout: option(300e3, '],
    ['`connectTimeout` 10 s', 'connectTimeout: option(10e3, '],
    ['`keepAliveTimeout` 4 s', 'keepAliveTimeout: option(4e3, '],
    ['`keepAliveMaxTimeout` 600 s', 'keepAliveMaxTimeout: option(600e3, '],
    ['`maxResponseSize` none', 'maxResponseSize: option(-1, '],
    ['`requestBodyTimeout` none', 'requestBodyTimeout: option(0, '],
    ['`maxConcurrentStreams` 100', 'maxConcurrentStreams: option(100, '],
    ['`initialWindowSize` 262144', 'initialWindowSize: option(262144, '],
    ['`connectionWindowSize` 524288', 'connectionWindowSize: option(524288, '],
  ] as const) {
    assert.ok(policy.replaceAll('\n', ' ').includes(words), words)
    assert.ok(settings.includes(code), code)
  }
  const found = /maxFragments: (\d+), maxPayloadSize: (\d+) \}/.exec(
    read('src/dispatcher/websocket-options.ts'),
  )
  assert.ok(policy.includes(`\`webSocket.maxFragments\` ${found?.[1]}`))
  assert.ok(policy.includes(`\`webSocket.maxPayloadSize\` ${found?.[2]} bytes`))
})

test('links lead somewhere', () => {
  for (const [file, base] of [
    ['SECURITY.md', ''],
    ['test/security/README.md', 'test/security/'],
  ] as const) {
    for (const [, target] of read(file).matchAll(/\]\(([^)#:]+)\)/g)) {
      assert.ok(existsSync(new URL(`${base}${target}`, root)), `${target} in ${file}`)
    }
  }
})
