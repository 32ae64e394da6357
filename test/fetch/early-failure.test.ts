/**
 * A failure that arrives in the same bytes as the head of its response. The runtime's fetch has not started to read the
 * body by then; it must still get the failure, or a reader of the body would never settle.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { H2CClient } from '../../src/dispatcher/h2c-client.ts'
import { fetch } from '../../src/index.ts'
import { INTERNAL_ERROR, PING } from '../../src/protocol/http2/constants.ts'
import { type H2Peer, startH2Pair } from '../support/h2-server.ts'
import { response, startPair } from '../support/scripted-client.ts'

/** The error of a response body. If it never settled, the test would wait as long as the caller. */
const PATIENCE = { timeout: 20_000 }

async function bodyFailure(answer: Response): Promise<{ code?: unknown }> {
  const error = await answer.text().then(
    () => assert.fail('the body is complete'),
    (reason: Error) => reason,
  )
  return error.cause as { code?: unknown }
}

describe('a failure together with the head of the response', PATIENCE, () => {
  async function answered(
    t: Parameters<typeof startH2Pair>[0],
    answer: (peer: H2Peer, id: number) => void,
    options = {},
  ): Promise<{ code?: unknown }> {
    const { server, client } = await startH2Pair(t, options)
    assert.ok(client instanceof H2CClient)
    const fetched = fetch(server.url, { dispatcher: client })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.together(() => answer(peer.head(id, 200), id))
    return bodyFailure(await fetched)
  }

  test('HTTP/2: the stream is reset', PATIENCE, async (t) => {
    const { code } = await answered(t, (peer, id) => peer.reset(id, INTERNAL_ERROR))
    assert.equal(code, 'ERR_HTTP2_STREAM_ERROR')
  })

  test('HTTP/2: the connection is broken', PATIENCE, async (t) => {
    const { code } = await answered(t, (peer) => peer.send(PING, 0, 0, Buffer.from('not eight')))
    assert.equal(code, 'UND_ERR_SOCKET')
  })

  test('HTTP/2: the body is longer than allowed', PATIENCE, async (t) => {
    const { code } = await answered(t, (peer, id) => peer.data(id, 'too long', true), { maxResponseSize: 3 })
    assert.equal(code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
  })

  test('HTTP/1.1: the body is longer than allowed', PATIENCE, async (t) => {
    const { server, client } = await startPair(t, { maxResponseSize: 3 })
    const fetched = fetch(server.url, { dispatcher: client })
    const connection = await server.accept()
    await connection.until('\r\n\r\n')
    connection.send(response('too long'))
    const { code } = await bodyFailure(await fetched)
    assert.equal(code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
  })

  test('a handler that reads callbacks is told as well, once and last', PATIENCE, async (t) => {
    const { server, client } = await startH2Pair(t)
    const calls: string[] = []
    const told = new Promise<void>((resolve) => {
      client.dispatch(
        { path: '/', method: 'GET' },
        {
          onRequestStart: () => void calls.push('start'),
          onResponseStart: () => void calls.push('head'),
          onResponseData: () => void calls.push('data'),
          onResponseEnd: () => void calls.push('end'),
          onResponseError: () => {
            calls.push('error')
            resolve()
          },
        },
      )
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.together(() => peer.head(id, 200).data(id, 'some').reset(id, INTERNAL_ERROR))
    await told
    const gone = once(client, 'disconnect')
    peer.end()
    await gone
    assert.deepEqual(calls, ['start', 'head', 'data', 'error'])
  })
})
