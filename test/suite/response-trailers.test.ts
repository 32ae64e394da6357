import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { rawList } from '../../src/request/received-fields.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWay, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' }

/** RFC 9110 §6.5.1: fields that would come too late, or that somebody could take for those of the head. */
const FORBIDDEN = [
  'Content-Length',
  'Host',
  'Authorization',
  'Set-Cookie',
  'Content-Type',
  'Content-Encoding',
  'Cache-Control',
  'Location',
  'WWW-Authenticate',
  'Trailer',
]

/** HTTP/2 has no such fields at all. */
const OF_HTTP1 = ['Transfer-Encoding', 'Connection', 'Keep-Alive', 'Upgrade']

const PERMITTED = { etag: '"a"', 'grpc-status': '0', 'x-checksum': 'abc' }

overEachWay('the trailers of a response', (way) => {
  const start = (t: Parameters<typeof startOrigin>[0]) =>
    startOrigin(t, way, (_request, response) => {
      response.writeHead(200, way.multiplexes ? {} : { trailer: 'etag' })
      response.write('ok')
      const names = way.multiplexes ? FORBIDDEN : [...FORBIDDEN, ...OF_HTTP1]
      const fields = names.map((name) => [name, '1'])
      response.addTrailers({ ...Object.fromEntries(fields), ...PERMITTED })
      response.end()
    })

  test('have no field that belongs into the head', async (t) => {
    const client = (await start(t)).dispatcher()
    const { body, trailers } = await client.request(GET)
    assert.equal(await body.text(), 'ok')
    assert.deepEqual(trailers, PERMITTED)
    const streamed = await client.stream(GET, () => new PassThrough().resume())
    assert.deepEqual(streamed.trailers, PERMITTED)
  })

  test('are the same for a handler, also as they came', async (t) => {
    const client = (await start(t)).dispatcher()
    let raw: readonly string[] = []
    const handler = new RecordingHandler({
      onResponseEnd: ({ rawTrailers }) => {
        raw = rawList(rawTrailers)!.map(String)
      },
    })
    client.dispatch(GET, handler)
    await handler.settled
    assert.deepEqual(handler.trailers, PERMITTED)
    assert.deepEqual(raw, Object.entries(PERMITTED).flat())
  })
})
