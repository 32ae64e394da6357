/** The resource timing entry of a fetch. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { PerformanceObserver, type PerformanceResourceTiming, performance } from 'node:perf_hooks'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fetch, type Interceptor, type Timings } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { deferred, failure } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

/** The entries for URLs that start with `url`, as they are created. */
function watch(t: TestContext, url: string): PerformanceResourceTiming[] {
  const entries: PerformanceResourceTiming[] = []
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.name.startsWith(url)) entries.push(entry as PerformanceResourceTiming)
    }
  })
  observer.observe({ entryTypes: ['resource'] })
  t.after(() => observer.disconnect())
  performance.clearResourceTimings()
  return entries
}

async function first(entries: readonly PerformanceResourceTiming[]): Promise<PerformanceResourceTiming> {
  while (entries.length === 0) await new Promise(setImmediate)
  return entries[0]!
}

type Entry = PerformanceResourceTiming & {
  initiatorType: string

  responseStatus?: number
  responseStart: number
  requestStart: number
}

overEachWire('the timing of a fetch', (wire) => {
  test('steps in order, sizes, status; though nobody has read the body', async (t) => {
    const content = gzipSync('x'.repeat(1000))
    const origin = await startOrigin(t, wire, (_, response) => {
      response.writeHead(201, { 'content-encoding': 'gzip' }).end(content)
    })
    const entries = watch(t, origin.url)
    // Kept: the request of a response that the garbage collector takes is cancelled.
    const response = await fetch(`${origin.url}/path?q#f`, { dispatcher: agentFor(t, wire) })
    const entry = (await first(entries)) as Entry
    assert.equal(response.bodyUsed, false)
    assert.deepEqual([entry.name, entry.initiatorType], [`${origin.url}/path?q#f`, 'fetch'])
    const { startTime, fetchStart, requestStart, responseStart, responseEnd, connectEnd } = entry
    const steps = [startTime, fetchStart, connectEnd, requestStart, responseStart, responseEnd]
    assert.ok(startTime > 0)
    assert.deepEqual(
      [...steps].sort((a, b) => a - b),
      steps,
    )
    assert.deepEqual([entry.redirectStart, entry.redirectEnd], [0, 0])
    assert.deepEqual([entry.encodedBodySize, entry.decodedBodySize], [content.length, 1000])
    if (entry.responseStatus !== undefined) assert.equal(entry.responseStatus, 201)
  })

  test('the response starts with its first byte', async (t) => {
    const begun = deferred<ServerResponse>()
    const origin = await startOrigin(t, wire, (_, response) => {
      response.write('begun')
      begun.resolve(response)
    })
    const entries = watch(t, origin.url)
    const response = await fetch(origin.url, { dispatcher: agentFor(t, wire) })
    const met = performance.now()
    ;(await begun.promise).end()
    await response.text()
    const { responseStart, responseEnd } = (await first(entries)) as Entry
    assert.ok(responseStart <= met && met <= responseEnd, `${responseStart} ${met} ${responseEnd}`)
  })

  test('of the first URL after redirects', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/there') response.end('there')
      else response.writeHead(302, { location: '/there' }).end()
    })
    const entries = watch(t, origin.url)
    await (await fetch(`${origin.url}/from`, { dispatcher: agentFor(t, wire) })).text()
    const entry = await first(entries)
    assert.equal(entry.name, `${origin.url}/from`)
    assert.ok(entry.redirectStart > 0 && entry.redirectStart === entry.startTime)
    assert.ok(entry.redirectEnd >= entry.redirectStart && entry.fetchStart >= entry.redirectEnd)
    assert.equal(entries.length, 1)
  })

  test('none after an abort or a failure', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/good') response.end('good')
      else if (request.url === '/die') for (const socket of origin.sockets) socket.destroy()
      else response.write('x')
    })
    const dispatcher = agentFor(t, wire)
    const entries = watch(t, origin.url)
    const controller = new AbortController()
    const response = await fetch(origin.url, { dispatcher, signal: controller.signal })
    controller.abort()
    await failure(response.text())
    await failure(fetch(`${origin.url}/die`, { dispatcher, method: 'POST' }))
    await (await fetch(`${origin.url}/good`, { dispatcher })).text()
    assert.equal((await first(entries)).name, `${origin.url}/good`)
    assert.equal(entries.length, 1)
  })

  test('behind a composed dispatcher', async (t) => {
    const origin = await startOrigin(t, wire, (_, response) => response.end('x'))
    const tag: Interceptor = (dispatch) => (options, handler) => dispatch({ ...options }, handler)
    const entries = watch(t, origin.url)
    await (await fetch(origin.url, { dispatcher: agentFor(t, wire).compose(tag) })).text()
    const { responseStart, startTime } = (await first(entries)) as Entry
    assert.ok(responseStart > 0 && responseStart >= startTime)
  })
})

for (const secured of [null, 30]) {
  test(`the end of connecting ${secured === null ? 'without' : 'with'} TLS`, async (t) => {
    const timings = { queued: 10, connect: 20, secured, sent: 40, firstByte: 50, end: 60 }
    const dispatcher = new ScriptedDispatcher(({ handler, newController }) => {
      const controller = newController({ timings: timings as Timings })
      handler.onRequestStart!(controller, null)
      handler.onResponseStart!(controller, 200, {}, '')
      handler.onResponseEnd!(controller, {})
    })
    const url = `https://${secured === null ? 'plain' : 'secured'}.test/`
    const entries = watch(t, url)
    await (await fetch(url, { dispatcher })).text()
    const { connectStart, secureConnectionStart, connectEnd, requestStart } = (await first(entries)) as Entry
    assert.deepEqual(
      [connectStart, secureConnectionStart, connectEnd, requestStart],
      secured === null ? [10, 10, 20, 40] : [10, 20, 30, 40],
    )
  })
}

test('nothing for what needs no network', async (t) => {
  const entries = watch(t, 'data:')
  await (await fetch('data:,x')).text()
  await new Promise(setImmediate)
  assert.deepEqual(entries, [])
})
