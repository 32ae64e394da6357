import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXIT } from '../../src/cli/failure.ts'
import { buckets, measurementReport } from '../../src/cli/histogram.ts'
import type { Measurement } from '../../src/cli/load.ts'
import { percentile, summarise } from '../../src/cli/percentiles.ts'
import { measurementResult } from '../../src/cli/result.ts'
import { TextLayout } from '../../src/cli/text-layout.ts'

const upTo = (most: number): Float64Array => Float64Array.from({ length: most }, (_, i) => i + 1)

test('percentiles are values that came, by nearest rank', () => {
  const hundred = upTo(100)
  assert.deepEqual(
    [0.5, 0.9, 0.99, 1].map((share) => percentile(hundred, share)),
    [50, 90, 99, 100],
  )
  assert.equal(percentile(Float64Array.of(7), 0.01), 7)
  assert.deepEqual(summarise(upTo(4)), {
    min: 1,
    mean: 2.5,
    p50: 2,
    p75: 3,
    p90: 4,
    p95: 4,
    p99: 4,
    p999: 4,
    max: 4,
  })
  assert.equal(summarise(new Float64Array()), null)
})

test('buckets have one round width, and one for the rest', () => {
  const list = buckets(upTo(100))
  assert.deepEqual(list.slice(0, 2), [
    { from: 0, to: 10, count: 9 },
    { from: 10, to: 20, count: 10 },
  ])
  assert.deepEqual(list.at(-1), { from: 100, to: null, count: 1 })
  assert.equal(
    list.reduce((sum, { count }) => sum + count, 0),
    100,
  )
  assert.deepEqual(buckets(Float64Array.of(0.3)), [{ from: 0.3, to: 0.31, count: 1 }])
  assert.deepEqual(buckets(new Float64Array()), [])
})

test('whatever the latencies, every one is in a bucket and the rows are few', () => {
  let seed = 1
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  for (let round = 0; round < 200; round++) {
    const scale = 10 ** (random() * 8 - 3)
    const values = Float64Array.from({ length: 1 + Math.floor(random() * 50) }, () => random() * scale).sort()
    const list = buckets(values)
    assert.ok(list.length <= 13, String(list.length))
    for (const { from, to, count } of list) {
      const within = values.filter((value) => value >= from && (to === null || value < to))
      assert.equal(within.length, count)
    }
    assert.equal(
      list.reduce((sum, { count }) => sum + count, 0),
      values.length,
    )
  }
})

const MEASUREMENT: Measurement = {
  method: 'GET',
  url: 'http://localhost/',
  requests: 1000,
  concurrency: 10,
  rate: null,
  duration: 500,
  isInterrupted: false,
  unfinished: 0,
  expectations: [],
  latencies: upTo(1000).map((value) => value / 10),
  bytes: 1_000_000,
  statuses: new Map([
    [503, 10],
    [200, 990],
  ]),
  failures: new Map(),
  connections: 1,
  protocols: ['h2'],
}

const FAILURE = {
  exitCode: EXIT.protocol,
  code: 'UND_ERR_SOCKET',
  message: 'lost',
  hint: 'Try.',
  retrySafety: null,
}

test('the picture', () => {
  assert.equal(
    measurementReport(
      { ...MEASUREMENT, latencies: Float64Array.of(1, 1, 1.5, 12) },
      new TextLayout(60, false),
    ),
    `GET http://localhost/
1,000 requests, 10 at a time

  protocol  h2, 1 connection
  status    200 × 990  503 × 10
  duration  500 ms
  rate      8 requests/s, 2.00 MB/s
  latency   p50 1.00 ms  p90 12.0 ms  p99 12.0 ms
            p99.9 12.0 ms  max 12.0 ms

   0 ms  3  ${'█'.repeat(48)}
   2 ms  0
   4 ms  0
   6 ms  0
   8 ms  0
  10 ms  0
  12 ms  1  ${'█'.repeat(16)}
`,
  )
})

for (const columns of [80, 120]) {
  test(`it fits ${columns} columns`, () => {
    for (const line of measurementReport(MEASUREMENT, new TextLayout(columns, false)).split('\n')) {
      assert.ok([...line].length <= columns, line)
    }
  })
}

test('when nothing came', () => {
  const failures = new Map([[FAILURE.code, { ...FAILURE, count: 1000 }]])
  const none = { ...MEASUREMENT, latencies: new Float64Array(), statuses: new Map(), failures, protocols: [] }
  assert.equal(
    measurementReport({ ...none, connections: 0, bytes: 0 }, new TextLayout(80, false)),
    `GET http://localhost/
1,000 requests, 10 at a time

  protocol  none, 0 connections
  duration  500 ms
  rate      0 requests/s, 0 bytes/s

UND_ERR_SOCKET × 1000: lost
  Try.
`,
  )
})

test('as a result', () => {
  const failures = new Map([[FAILURE.code, { ...FAILURE, count: 2 }]])
  const result = JSON.parse(JSON.stringify(measurementResult({ ...MEASUREMENT, failures })))
  assert.deepEqual(Object.keys(result).sort(), [
    'bytes',
    'concurrency',
    'connections',
    'duration',
    'errors',
    'expectations',
    'histogram',
    'isInterrupted',
    'latency',
    'method',
    'protocols',
    'rate',
    'requests',
    'requestsPerSecond',
    'statuses',
    'unfinished',
    'url',
  ])
  assert.deepEqual(result.statuses, { 200: 990, 503: 10 })
  assert.deepEqual(result.errors, [{ ...FAILURE, count: 2 }])
  assert.equal(result.requestsPerSecond, 2000)
  assert.equal(result.latency.p99, 99)
})
