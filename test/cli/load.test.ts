/** Measurements: how long they take, what a rate means, how they end, and what is expected of them. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { run } from '../../src/cli/command.ts'
import { verdictOf } from '../../src/cli/expectation.ts'
import { readExpectations } from '../../src/cli/option-values.ts'
import type { Output } from '../../src/cli/text-layout.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { command, H1, H2, type Listener, Screen, start, title, WAYS } from './origin.ts'

const ok: Listener = (_request, response) => response.end('12345')

const measured = async (argv: readonly string[]) => {
  const ran = await command([...argv, '--json'])
  return { ...ran, result: JSON.parse(ran.stdout) }
}

for (const way of WAYS) {
  test(`with --rate, the percentiles show a second in which the server stalls, over ${title(way)}`, async (t) => {
    const began = performance.now()
    const url = await start(t, way, (_request, response) => {
      // It answers nothing between 0.5 and 1.5 s.
      const now = performance.now() - began
      const wait = now > 500 && now < 1500 ? 1500 - now : 0
      setTimeout(() => response.end('ok'), wait)
    })
    const load = ['--duration', '3s', '--rate', '100', '--concurrency', '10']
    const { code, result } = await measured([...way.options, ...load, url])
    assert.equal(code, 0)
    const { latency, requests, rate, statuses } = result
    assert.deepEqual([requests, rate, statuses], [300, 100, { 200: 300 }])
    assert.ok(latency.p99 >= 800 && latency.min < 800, JSON.stringify(latency))
  })

  test(`--duration ends, and gives up what has no answer, over ${title(way)}`, async (t) => {
    let answered = 0
    const url = await start(t, way, (_request, response) => {
      if (answered++ < 5) response.end('12345')
    })
    const load = ['--duration', '1s', '--concurrency', '3']
    const { code, result } = await measured([...way.options, ...load, url])
    assert.equal(code, 0)
    // All five are answered in that time, unless the machine is busy.
    const { statuses, requests, unfinished } = result
    assert.deepEqual(Object.keys(statuses), ['200'])
    assert.ok(statuses[200] <= 5 && unfinished >= 1 && unfinished <= 3, JSON.stringify(result))
    assert.equal(requests, statuses[200] + unfinished)
    assert.ok(result.duration >= 2900 && result.duration < 15_000)
    assert.equal(result.isInterrupted, false)
  })
}

test('with --rate, what is due and not sent is missing', async (t) => {
  const url = await start(t, H1, () => {})
  const { result } = await measured(['--duration', '200ms', '--rate', '100', '--concurrency', '2', url])
  assert.deepEqual([result.requests, result.unfinished, result.latency], [20, 20, null])
  const { stdout } = await command(['--duration', '100ms', '--rate', '100', url])
  assert.match(stdout, /\n10 requests, 50 at a time, 100 requests due per second\n/)
  assert.match(stdout, /\n {2}missing {3}10 requests without an answer at the end\n/)
})

test('--repeat with --rate sends no faster', async (t) => {
  const url = await start(t, H1, ok)
  const { result } = await measured(['--repeat', '20', '--rate', '50', url])
  assert.deepEqual([result.requests, result.statuses], [20, { 200: 20 }])
  assert.ok(result.duration >= 370, String(result.duration))
})

test('an interrupt ends a measurement with what there is', async (t) => {
  let interrupt = (): void => {}
  let requests = 0
  const url = await start(t, H2, (_request, response) => {
    if (++requests <= 10) response.end('12345')
    else interrupt()
  })
  const [stdout, stderr] = [new Screen(), new Screen()]
  let isRemoved = false
  const code = await run({
    argv: [...H2.options, '--duration', '300s', '--json', url],
    env: {},
    stdin: Readable.from([]),
    stdout: stdout as Output,
    stderr: stderr as Output,
    onInterrupt: (listener) => {
      interrupt = listener
      return () => {
        isRemoved = true
      }
    },
  })
  const result = JSON.parse(stdout.text)
  assert.deepEqual([code, isRemoved, result.isInterrupted], [0, true, true])
  assert.deepEqual([result.statuses, result.unfinished, result.errors], [{ 200: 10 }, 1, []])
})

test('errors are counted by kind', async (t) => {
  let requests = 0
  const url = await start(t, H1, (request, response) => {
    if (++requests % 2 === 0) request.socket.destroy()
    else response.writeHead(500).end()
  })
  const { code, result } = await measured(['--repeat', '10', url])
  assert.equal(code, 4)
  assert.deepEqual(result.statuses, { 500: 5 })
  assert.deepEqual(
    result.errors.map(({ code, count }: { code: string; count: number }) => [code, count]),
    [['UND_ERR_SOCKET', 5]],
  )
  assert.match((await command(['--repeat', '10', url])).stdout, /\n\nUND_ERR_SOCKET × 5: other side closed/)
})

test('--expect sets the exit code', async (t) => {
  const url = await start(t, H1, (request, response) => {
    response.writeHead(request.url === '/bad' ? 503 : 200).end()
  })
  const codeOf = async (expect: string, path = '', ...more: string[]) =>
    (await command(['--repeat', '10', '--expect', expect, ...more, `${url}/${path}`])).code
  assert.equal(await codeOf('p99<60s,errors<1%,rate>0.1'), 0)
  assert.equal(await codeOf('p99<0.001us'), 5)
  assert.equal(await codeOf('p50 >= 0, errors < 1'), 0)
  assert.equal(await codeOf('errors<1%', 'bad'), 5)
  assert.equal(await codeOf('errors<=100%', 'bad', '--fail'), 0)
  assert.equal(await codeOf('p99<60s', 'bad', '--fail'), 22)
  const { stdout } = await command(['--repeat', '2', '--expect', 'errors<1%,max<1us', `${url}/bad`])
  assert.match(stdout, /\nNOT MET: errors<1%, it is 100%\nNOT MET: max<1us, it is [\d.]+ ms\n$/)
  const { result } = await measured(['--repeat', '2', '--expect', 'errors=0'.replace('=', '<='), url])
  assert.deepEqual(result.expectations, [{ text: 'errors<=0', actual: 0, isMet: true }])
})

test('expectations of nothing are not met', async (t) => {
  const url = `http://127.0.0.1:${await refusingPort(t)}`
  const { code, stdout } = await command(['--repeat', '2', '--expect', 'p99<1h'.replace('h', 's'), url])
  assert.equal(code, 5)
  assert.match(stdout, /\nNOT MET: p99<1s, nothing was measured\n/)
})

test('units and comparisons', () => {
  const facts = { latencies: Float64Array.of(100, 200), perSecond: 10, errors: 1, due: 200 }
  const isMet = (text: string): boolean => verdictOf(readExpectations(text)[0]!, facts).isMet
  for (const text of [
    'max<=200',
    'max<0.201s',
    'max>199999us',
    'min>=100ms',
    'mean<151ms',
    'p99.9<=200',
    'errors<1%',
    'errors<2',
    'errors>=0.5%',
    'rate>9.9',
  ]) {
    assert.ok(isMet(text), text)
  }
  for (const text of ['max<200', 'max>200', 'min>100', 'p75<200', 'errors<1', 'errors<0.5%', 'rate>10']) {
    assert.ok(!isMet(text), text)
  }
  for (const text of ['p98<1', 'p99=1', 'p99<1%', 'errors<1s', 'rate>1%', 'p99<', '', 'p99<1ms;p50<1ms']) {
    assert.throws(() => readExpectations(text), /--expect is written 'p99<200ms,errors<1%'/)
  }
})

test('a measurement sends what a request would', async (t) => {
  const seen: unknown[] = []
  const url = await start(t, H1, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push([request.method, String(Buffer.concat(chunks)), request.headers['x-mine']])
      response.end()
    })
  })
  assert.equal((await command(['--repeat', '2', '-d', 'a=1', '-d', 'b=2', '-H', 'x-mine: 1', url])).code, 0)
  assert.deepEqual(seen, [
    ['POST', 'a=1&b=2', '1'],
    ['POST', 'a=1&b=2', '1'],
  ])
})
