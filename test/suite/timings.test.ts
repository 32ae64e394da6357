import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import type { Timings } from '../../src/index.ts'
import { deferred, echo, failure } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { ONE_AT_A_TIME, overEachWay, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' }

/** The steps that were reached, in the order of the request. */
function reached(timings: Timings): number[] {
  const { queued, connect, secured, sent, firstByte, end } = timings
  return [queued, connect, secured, sent, firstByte, end].filter((time) => time !== null)
}

function assertOrdered(timings: Timings): void {
  const times = reached(timings)
  assert.deepEqual(
    times,
    [...times].sort((a, b) => a - b),
  )
}

overEachWay('timings', (way) => {
  test('of a response: each step in order, on the monotonic clock', async (t) => {
    const before = performance.now()
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const { timings, body } = await client.request(GET)
    assert.notEqual(timings, null)
    await body.text()
    const { queued, connect, secured, sent, firstByte, end } = timings!
    assert.equal(queued >= before && end! <= performance.now(), true)
    assert.equal(typeof connect, 'number')
    assert.equal(typeof secured, way.secure ? 'number' : 'object')
    for (const time of [sent, firstByte, end]) assert.equal(typeof time, 'number')
    assertOrdered(timings!)
  })

  test('connect and secured are null on a reused connection', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    await (await client.request(GET)).body.dump()
    const { timings, body } = await client.request(GET)
    await body.dump()
    assert.equal(timings?.connect, null)
    assert.equal(timings?.secured, null)
    assertOrdered(timings!)
    assert.equal(reached(timings!).length, 4)
  })

  test('end is filled in when the body has come', async (t) => {
    const finish = deferred()
    const client = (
      await startOrigin(t, way, async (_request, response) => {
        response.write('x')
        await finish.promise
        response.end()
      })
    ).dispatcher()
    const { timings, body } = await client.request(GET)
    assert.equal(timings?.end, null)
    finish.resolve()
    await body.text()
    assert.equal(typeof timings?.end, 'number')
  })

  test('a request that waited was queued before the one in front ended', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher(ONE_AT_A_TIME)
    const [first, second] = await Promise.all(
      [1, 2].map(async () => {
        const { timings, body } = await client.request({ path: '/', method: 'POST' })
        await body.dump()
        return timings!
      }),
    )
    assert.equal(second!.queued < first!.end!, true)
    assert.equal(second!.sent! >= first!.end!, true)
  })

  test('firstByte is that of an interim response, if one comes first', async (t) => {
    const finish = deferred()
    const origin = await startOrigin(t, way, async (_request, response) => {
      response.writeContinue()
      await finish.promise
      response.end('x')
    })
    const handler = new RecordingHandler()
    origin.dispatcher().dispatch(GET, handler)
    await eventually(() => typeof handler.controller?.timings?.firstByte === 'number')
    const { timings } = handler.controller!
    const { firstByte } = timings!
    assert.deepEqual(handler.statuses, [])
    finish.resolve()
    await handler.settled
    assert.deepEqual(handler.statuses, [200])
    assert.equal(timings!.firstByte, firstByte)
  })

  test('of a failed request: only the steps it reached', async (t) => {
    const origin = await startOrigin(t, way, () => {
      for (const socket of origin.sockets) socket.destroy()
    })
    const error = await failure(origin.dispatcher().request({ path: '/', method: 'POST' }))
    const timings = error.timings as Timings
    assert.equal(typeof timings.sent, 'number')
    assert.equal(timings.firstByte, null)
    assert.equal(typeof timings.end, 'number')
    assertOrdered(timings)
  })

  test('are on the controller and on the result of stream', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const handler = new RecordingHandler()
    client.dispatch(GET, handler)
    await handler.settled
    assertOrdered(handler.controller!.timings!)
    const target = new Writable({ write: (_chunk, _encoding, callback) => callback() })
    const data = await client.stream(GET, () => target)
    assert.equal(typeof data.timings?.end, 'number')
    assert.equal(Object.keys(data).includes('timings'), false)
  })
})
