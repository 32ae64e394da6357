import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { InfoData } from '../../src/api/api-handler.ts'
import type { RawRequestOptions } from '../../src/index.ts'
import { rawList } from '../../src/request/received-fields.ts'
import { contentOf, failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWay, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' }
const LINK = '</a.css>; rel=preload; as=style'

overEachWay('informational responses', (way) => {
  const start = (t: Parameters<typeof startOrigin>[0]) =>
    startOrigin(t, way, (_request, response) => {
      response.writeEarlyHints({ link: LINK })
      response.writeEarlyHints({ link: LINK, 'x-second': 'yes' })
      response.end('final')
    })

  test('reach onInfo of request, and the final response follows', async (t) => {
    const client = (await start(t)).dispatcher()
    const infos: InfoData[] = []
    const { statusCode, body } = await client.request({ ...GET, onInfo: (info) => infos.push(info) })
    assert.equal(statusCode, 200)
    assert.equal(await body.text(), 'final')
    assert.deepEqual(
      infos.map((info) => info.statusCode),
      [103, 103],
    )
    const [first, second] = infos as [InfoData, InfoData]
    assert.equal((first.headers as Record<string, unknown>)['link'], LINK)
    assert.equal((second.headers as Record<string, unknown>)['x-second'], 'yes')
  })

  test('100 that nobody asked for is skipped', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => {
      response.writeContinue()
      response.end('final')
    })
    const client = origin.dispatcher({ connections: 1 })
    for (const method of ['GET', 'POST']) {
      const infos: InfoData[] = []
      const options = { path: '/', method, onInfo: (info: InfoData) => infos.push(info) }
      const { statusCode, body } = await client.request(options)
      assert.deepEqual([statusCode, await body.text(), infos], [200, 'final', []])
      const handler = new RecordingHandler()
      client.dispatch({ path: '/', method }, handler)
      await handler.settled
      assert.deepEqual(handler.statuses, [200])
    }
    assert.equal(origin.sockets.length, 1)
  })

  test('are raw when the headers are', async (t) => {
    const client = (await start(t)).dispatcher()
    const infos: InfoData<string[]>[] = []
    const options: RawRequestOptions = { ...GET, responseHeaders: 'raw', onInfo: (info) => infos.push(info) }
    const { body } = await client.request(options)
    await body.dump()
    const flat = infos[1]!.headers
    assert.equal(Array.isArray(flat), true)
    const names = flat.filter((_part, index) => index % 2 === 0)
    assert.deepEqual(names.map((name) => name.toLowerCase()).sort(), ['link', 'x-second'])
    assert.equal(flat[flat.indexOf('x-second') + 1], 'yes')
  })

  test('reach onInfo of stream and pipeline', async (t) => {
    const client = (await start(t)).dispatcher()
    let streamed = 0
    await client.stream({ ...GET, onInfo: () => streamed++ }, () => new PassThrough().resume())
    assert.equal(streamed, 2)
    let piped = 0
    const duplex = client.pipeline({ ...GET, onInfo: () => piped++ }, ({ body }) => body)
    duplex.end()
    assert.equal(String(await contentOf(duplex)), 'final')
    assert.equal(piped, 2)
  })

  test('need no onInfo', async (t) => {
    const client = (await start(t)).dispatcher()
    assert.equal(await (await client.request(GET)).body.text(), 'final')
  })

  test('what onInfo throws is the error of the request', async (t) => {
    const client = (await start(t)).dispatcher()
    const own = new Error('do not tell me')
    const onInfo = () => {
      throw own
    }
    assert.equal(await failure(client.request({ ...GET, onInfo })), own)
    assert.equal(await failure(client.stream({ ...GET, onInfo }, () => new PassThrough())), own)
    assert.equal(await (await client.request(GET)).body.text(), 'final')
  })

  test('a handler sees each of them', async (t) => {
    const client = (await start(t)).dispatcher()
    const raw: string[][] = []
    const handler = new RecordingHandler({
      onResponseStart(controller) {
        raw.push((rawList(controller.rawHeaders) ?? []).map(String))
      },
    })
    client.dispatch(GET, handler)
    await handler.settled
    assert.deepEqual(handler.statuses, [103, 103, 200])
    // Replaced by each head.
    assert.equal(raw[0]?.includes('yes'), false)
    assert.equal(raw[1]?.includes('yes'), true)
    assert.equal(raw[2]?.includes('yes'), false)
  })
})
