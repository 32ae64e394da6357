import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headerSizeIn } from '../../src/dispatcher/runtime-header-size.ts'

for (const [words, size] of [
  [[], 16384],
  [['--max-http-header-size=100'], 100],
  [['--max_http_header_size', '200'], 200],
  [['--max-http-header-size=100', '--inspect', '--max-http-header-size=300'], 300],
  [['--max-http-header-size=0'], 16384],
  [['--max-http-header-size=-5'], 16384],
  [['--max-http-header-size=much'], 16384],
  [['--max-http-header-size'], 16384],
] as const) {
  test(`${words.join(' ') || 'no option'}: ${size}`, () => assert.equal(headerSizeIn(words), size))
}
