import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { EventSource, type MessageEvent } from '../../src/index.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { ended, h1, h2c, lines, listen, lost, setStage, status, stream } from './stage.ts'

const SOON = { reconnectionTime: 0 }

for (const wire of [h1, h2c]) {
  describe(`a request over ${wire.name}`, () => {
    test('may be a POST with a body, which is sent with each attempt', async (t) => {
      const stage = await setStage(t, wire, [ended('data: 1\n\n'), stream()])
      const body = JSON.stringify({ prompt: 'hello' })
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream, application/json' }
      const { log } = listen(t, stage, '/', { ...SOON, method: 'post', body, headers })
      await lines(log, 4)
      for (const { method, headers: seen, body: sent } of stage.requests) {
        assert.equal(method, 'POST')
        assert.equal(seen['content-type'], 'application/json')
        assert.equal(seen.accept, 'text/event-stream, application/json')
        assert.equal(await sent, body)
      }
      assert.equal(stage.requests.length, 2)
    })

    test('has fresh headers with each attempt', async (t) => {
      const stage = await setStage(t, wire, [lost('data: 1\n\n'), ended('data: 2\n\n'), stream()])
      let tokens = 0
      const { log } = listen(t, stage, '/', {
        ...SOON,
        headers: async () => ({ authorization: `Bearer ${++tokens}` }),
      })
      await lines(log, 7)
      assert.deepEqual(
        stage.requests.map(({ headers }) => headers.authorization),
        ['Bearer 1', 'Bearer 2', 'Bearer 3'],
      )
    })

    test('with a body that can be sent once is not sent again', async (t) => {
      for (const body of [Readable.from(['pro', 'mpt']), new Blob(['prompt']).stream()]) {
        const stage = await setStage(t, wire, [lost('data: 1\n\n')])
        const { source, log } = listen(t, stage, '/', { ...SOON, method: 'POST', body: body as never })
        await lines(log, 3)
        assert.deepEqual(log, ['open 1', 'message 1', 'error 2'])
        assert.equal(await stage.requests[0]!.body, 'prompt')
        assert.equal(source.readyState, 2)
      }
    })
  })
}

test('bytes that the caller changes afterwards are sent as they were', async (t) => {
  const stage = await setStage(t, h1, [ended('data: 1\n\n'), stream()])
  const body = Buffer.from('prompt')
  const { log } = listen(t, stage, '/', { ...SOON, method: 'POST', body })
  body.fill('?')
  await lines(log, 4)
  assert.deepEqual(await Promise.all(stage.requests.map((request) => request.body)), ['prompt', 'prompt'])
})

test('a headers function that fails is a failed attempt', async (t) => {
  const stage = await setStage(t, h1, [stream()])
  let calls = 0
  const { log, errors } = listen(t, stage, '/', {
    ...SOON,
    headers() {
      if (++calls === 1) throw new Error('no token')
      if (calls === 2) return Promise.reject(new Error('still none'))
      if (calls === 3) return { 'a b': 'c' }
      return {}
    },
  })
  await lines(log, 4)
  assert.deepEqual(log, ['error 0', 'error 0', 'error 0', 'open 1'])
  assert.deepEqual(
    errors.map(({ message }) => message),
    ['no token', 'still none', 'Headers.append: "a b" is an invalid header name.'],
  )
})

test('lastEventId resumes an earlier stream, unless it cannot be sent', async (t) => {
  for (const [id, sent] of [
    ['41', '41'],
    ['€', Buffer.from('€').toString('latin1')],
    ['a\nb', undefined],
    ['', undefined],
  ] as const) {
    const stage = await setStage(t, h1, [stream('data: 1\n\n')])
    const { source, log } = listen(t, stage, '/', { lastEventId: id })
    assert.equal(source.lastEventId, id)
    await lines(log, 2)
    assert.equal(source.lastEventId, id)
    assert.equal(stage.requests[0]!.headers['last-event-id'], sent)
  }
})

test('an id of an unfinished event is not sent', async (t) => {
  const stage = await setStage(t, h1, [ended('id: 1\ndata: 1\n\nid: 2\ndata: 2\n'), stream()])
  const { source, log } = listen(t, stage, '/', SOON)
  await lines(log, 4)
  assert.equal(stage.requests[1]!.headers['last-event-id'], '1')
  assert.equal(source.lastEventId, '1')
})

test('onEvent gets events of any name, before their listeners', async (t) => {
  const stage = await setStage(t, h1, [stream('event: a\ndata: 1\n\nevent: b\ndata: 2\n\ndata: 3\n\n')])
  const order: string[] = []
  const { source } = listen(t, stage, '/', {
    onEvent: ({ type, data }: MessageEvent) => order.push(`${type} ${data}`),
  })
  source.addEventListener('a', ({ data }) => order.push(`listener ${data}`))
  await eventually(() => order.length === 4)
  assert.deepEqual(order, ['a 1', 'listener 1', 'b 2', 'message 3'])
})

test('close() in onEvent: no listener is called', async (t) => {
  const stage = await setStage(t, h1, [stream('data: 1\n\n')])
  const { source, log } = listen(t, stage, '/', { onEvent: () => source.close() })
  await eventually(() => source.readyState === 2)
  await turns(3)
  assert.deepEqual(log, ['open 1'])
})

describe('a signal', () => {
  test('ends it like close()', async (t) => {
    const stage = await setStage(t, h1, [stream('data: 1\n\n')])
    const controller = new AbortController()
    const { source, log } = listen(t, stage, '/', { signal: controller.signal })
    await lines(log, 2)
    const gone = once(stage.responses[0]!, 'close')
    controller.abort()
    assert.equal(source.readyState, 2)
    await gone
    await turns(5)
    assert.deepEqual(log, ['open 1', 'message 1'])
  })

  test('that is aborted already prevents the request', async (t) => {
    const stage = await setStage(t, h1, [])
    const { source, log } = listen(t, stage, '/', { signal: AbortSignal.abort() })
    assert.equal(source.readyState, 2)
    await turns(10)
    assert.deepEqual([log, stage.requests.length], [[], 0])
  })

  test('has no listener left when the source has ended', async (t) => {
    const stage = await setStage(t, h1, [status(404), stream()])
    const { signal } = new AbortController()
    const { log } = listen(t, stage, '/', { signal })
    await lines(log, 1)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    const other = listen(t, stage, '/', { signal })
    await lines(other.log, 1)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    other.source.close()
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})

test('node.dispatcher wins over dispatcher', async (t) => {
  const stage = await setStage(t, h1, [stream()])
  const never = { dispatch: (): boolean => assert.fail('dispatched') }
  const { log } = listen(t, stage, '/', {}, { dispatcher: never })
  assert.deepEqual(await lines(log, 1), ['open 1'])
  const source = new EventSource(stage.url, { dispatcher: stage.agent })
  t.after(() => source.close())
  await eventually(() => stage.requests.length === 2)
})
