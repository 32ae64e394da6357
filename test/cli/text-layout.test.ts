import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Progress } from '../../src/cli/progress.ts'
import {
  bytes,
  clean,
  count,
  milliseconds,
  type Output,
  TextLayout,
  width,
  wrap,
} from '../../src/cli/text-layout.ts'
import { Screen } from './origin.ts'

const screen = (isTTY: boolean, columns?: number): Output => Object.assign(new Screen(), { isTTY, columns })

test('colour is for terminals, unless it is not wanted', () => {
  assert.equal(TextLayout.for(screen(true, 100), {}).colour, true)
  assert.equal(TextLayout.for(screen(true, 100), { NO_COLOR: '' }).colour, true)
  assert.equal(TextLayout.for(screen(true, 100), { NO_COLOR: '1' }).colour, false)
  assert.equal(TextLayout.for(screen(true, 100), { TERM: 'dumb' }).colour, false)
  assert.equal(TextLayout.for(screen(false), {}).colour, false)
  assert.equal(new TextLayout(80, true).paint('red', 'x'), '\x1b[31mx\x1b[0m')
  assert.equal(new TextLayout(80, true).paint('red', ''), '')
  assert.equal(new TextLayout(80, false).paint('red', 'x'), 'x')
})

test('columns are those of the terminal, within reason', () => {
  assert.equal(TextLayout.for(screen(true, 100), {}).columns, 100)
  assert.equal(TextLayout.for(screen(false), {}).columns, 80)
  assert.equal(new TextLayout(10, false).columns, 40)
  assert.equal(new TextLayout(500, false).columns, 120)
})

test('rows: values go on below themselves, long labels above', () => {
  const layout = new TextLayout(40, false)
  assert.equal(layout.row('name', 6, 'value'), '  name    value')
  assert.equal(layout.row('n', 6, `${'a'.repeat(30)}b`), `  n       ${'a'.repeat(30)}\n          b`)
  assert.equal(layout.row('a-long-name', 6, 'value'), '  a-long-name\n          value')
  assert.equal(layout.row('n'.repeat(50), 6, 'v'), `  ${'n'.repeat(38)}\n  ${'n'.repeat(12)}\n          v`)
})

test('text wraps between words, by cells', () => {
  assert.deepEqual(wrap('one two three', 8), ['one two', 'three'])
  assert.deepEqual(wrap('a bcdefghijkl', 6), ['a bcde', 'fghijk', 'l'])
  assert.deepEqual(wrap('a\n\tb', 6), ['a', '  b'])
  assert.deepEqual(wrap('日本語', 4), ['日本', '語'])
  assert.deepEqual(wrap('', 4), [''])
  assert.equal(width('e\u0301日😀'), 5)
})

test('control characters of a peer are shown, not obeyed', () => {
  assert.equal(clean('\x1b[31m\x07\x9b\u202e a\tb\nc'), '\\x1b[31m\\x07\\x9b\\u202e a\tb\nc')
})

test('amounts', () => {
  assert.deepEqual([0, 1, 999, 1000, 12_345, 999_999, 1e9, 1e16].map(bytes), [
    '0 bytes',
    '1 byte',
    '999 bytes',
    '1.00 kB',
    '12.3 kB',
    '1.00 MB',
    '1.00 GB',
    '10000 TB',
  ])
  assert.deepEqual([0, 1.234, 12.34, 123.4, 12_340].map(milliseconds), [
    '0.00 ms',
    '1.23 ms',
    '12.3 ms',
    '123 ms',
    '12.3 s',
  ])
  assert.deepEqual([count(1, 'request'), count(1234, 'request')], ['1 request', '1,234 requests'])
})

test('progress is drawn on a terminal, after a while, not too often, and taken away', () => {
  let now = 0
  const output = Object.assign(new Screen(), { isTTY: true, columns: 80 })
  const progress = new Progress(output as Output, new TextLayout(80, false), () => now)
  progress.draw(1, 10)
  now = 499
  progress.draw(2, 10)
  assert.equal(output.text, '')
  now = 1000
  progress.draw(5000, 10_000)
  now = 1099
  progress.draw(6000, 10_000)
  assert.equal(
    output.text,
    `\r\x1b[K  ${'█'.repeat(11)}${'░'.repeat(11)}  50 %  5.00 kB of 10.0 kB  5.00 kB/s  1 s left`,
  )
  now = 2000
  progress.draw(7000, null)
  assert.ok(output.text.endsWith('\r\x1b[K  7.00 kB  3.50 kB/s'))
  now = 4000
  progress.draw(20_000, 10_000)
  assert.ok(output.text.endsWith('\r\x1b[K  20.0 kB  5.00 kB/s'))
  now = 5000
  progress.draw(1000, 1_000_000)
  assert.ok(output.text.endsWith('  200 bytes/s  1:23:15 left'))
  now = 6000
  progress.drawLoad({ done: 10, failed: 1, elapsed: 5000 }, { repeat: 20, duration: null })
  assert.ok(output.text.endsWith('  50 %  10 requests  1 error  2/s  5 s'))
  now = 7000
  progress.drawLoad({ done: 10, failed: 0, elapsed: 65_000 }, { repeat: null, duration: 60_000 })
  assert.ok(output.text.endsWith(' 100 %  10 requests  0/s  1:05'))
  progress.clear()
  progress.clear()
  assert.ok(output.text.endsWith('1:05\r\x1b[K'))
})

test('no progress anywhere else', () => {
  let now = 0
  const output = new Screen()
  const progress = new Progress(output as Output, new TextLayout(80, false), () => now)
  now = 1000
  progress.draw(1, 2)
  progress.clear()
  assert.equal(output.text, '')
})
