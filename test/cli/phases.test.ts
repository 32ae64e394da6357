import assert from 'node:assert/strict'
import { test } from 'node:test'
import { phasesOf, segments, solid, waterfall } from '../../src/cli/phases.ts'
import { TextLayout } from '../../src/cli/text-layout.ts'

const TIMINGS = { queued: 100, connect: 106, secured: 110, sent: 111, firstByte: 120, end: 125 }
const DIAL = { started: 101, resolved: 103 }

test('a new connection', () => {
  assert.deepEqual(phasesOf(TIMINGS, DIAL), {
    blocked: 1,
    dns: 2,
    connect: 3,
    tls: 4,
    send: 1,
    wait: 9,
    receive: 5,
    total: 25,
  })
})

test('no name to resolve, no TLS', () => {
  const phases = phasesOf({ ...TIMINGS, secured: null }, { ...DIAL, resolved: null })
  assert.deepEqual([phases.dns, phases.connect, phases.tls, phases.send], [null, 5, null, 5])
})

test('a reused connection', () => {
  const phases = phasesOf({ ...TIMINGS, connect: null, secured: null }, DIAL)
  assert.deepEqual(
    [phases.blocked, phases.dns, phases.connect, phases.tls, phases.send],
    [null, null, null, null, 11],
  )
})

test('an answer before the request was out', () => {
  const late = phasesOf({ ...TIMINGS, sent: 124 }, DIAL)
  assert.deepEqual([late.send, late.wait, late.receive], [10, 0, 5])
  const never = phasesOf({ ...TIMINGS, sent: null }, DIAL)
  assert.deepEqual([never.send, never.wait], [10, 0])
})

test('what was not reached', () => {
  const lost = phasesOf({ ...TIMINGS, firstByte: null }, DIAL)
  assert.deepEqual([lost.wait, lost.receive, lost.total], [14, null, 25])
  assert.deepEqual(
    segments(lost).map(({ label }) => label),
    ['dns', 'connect', 'tls', 'waiting'],
  )
  const unsent = phasesOf({ ...TIMINGS, sent: null, firstByte: null, end: null }, DIAL)
  assert.deepEqual([unsent.send, unsent.wait, unsent.total], [null, null, 10])
  assert.deepEqual(phasesOf({ ...TIMINGS, firstByte: null, end: null }, DIAL).total, 11)
  assert.deepEqual(phasesOf({ ...TIMINGS, end: null }, DIAL).total, 20)
})

test('the bars follow each other and fit', () => {
  const lines = waterfall(phasesOf(TIMINGS, DIAL), new TextLayout(80, false))
  assert.deepEqual(lines, [
    '  dns          2.00 ms  ████▋',
    '  connect      3.00 ms      ███████',
    '  tls          4.00 ms             █████████▍',
    '  first byte   10.0 ms                       ███████████████████████▍',
    '  download     5.00 ms                                              ███████████▋',
    '  total        25.0 ms',
  ])
  for (const line of lines) assert.ok(line.length <= 80)
  const nothing = { ...TIMINGS, connect: 100, secured: 100, sent: 100, firstByte: 100, end: 100 }
  assert.equal(waterfall(phasesOf(nothing, null), new TextLayout(80, false)).length, 3)
  assert.deepEqual([solid(0), solid(0.5), solid(2), solid(2.25)], ['▏', '▌', '██', '██▎'])
})
