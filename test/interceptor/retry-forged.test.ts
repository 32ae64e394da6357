/** Servers that forge the rest of a response, byte by byte. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { interceptors } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { startPair } from '../support/scripted-client.ts'

const FIRST = 'HTTP/1.1 200 OK\r\netag: "a"\r\ncontent-length: 6\r\n\r\nabc'

async function forged(t: TestContext, answer: string): Promise<{ text: string | null; error: Error | null }> {
  const { server, client } = await startPair(t)
  const composed = client.compose(interceptors.retry({ minTimeout: 1, maxTimeout: 1 }))
  const response = composed.request({ path: '/', method: 'GET' })
  const first = await server.accept()
  await first.head()
  first.send(FIRST).end()
  const { body } = await response
  const reading = body.text()
  const outcome = reading.then(
    (text) => ({ text, error: null }),
    (error: Error) => ({ text: null, error }),
  )
  const second = await server.accept()
  assert.match(await second.head(), /\r\nrange: bytes=3-5\r\nif-match: "a"\r\n/)
  second.send(answer).end()
  return outcome
}

describe('security row 6: a forged partial response', () => {
  const head = (...fields: string[]): string =>
    `HTTP/1.1 206 Partial Content\r\n${fields.join('\r\n')}\r\n\r\n`
  const rows: [what: string, answer: string, message: string][] = [
    [
      'of another range',
      `${head('etag: "a"', 'content-range: bytes 0-2/6', 'content-length: 3')}xyz`,
      'Content-Range mismatch',
    ],
    [
      'of another ETag',
      `${head('etag: "b"', 'content-range: bytes 3-5/6', 'content-length: 3')}xyz`,
      'ETag mismatch',
    ],
    [
      'with a longer body',
      `${head('etag: "a"', 'content-range: bytes 3-5/6', 'transfer-encoding: chunked')}4\r\ndefg\r\n0\r\n\r\n`,
      'Content-Range mismatch',
    ],
    [
      'with a shorter body',
      `${head('etag: "a"', 'content-range: bytes 3-5/6', 'transfer-encoding: chunked')}2\r\nde\r\n0\r\n\r\n`,
      'Content-Range mismatch',
    ],
  ]
  for (const [what, answer, message] of rows) {
    it(`${what} is refused`, async (t) => {
      const { error } = await forged(t, answer)
      assert.equal(error?.message, message)
      assert.equal((error as { code?: string }).code, 'UND_ERR_REQ_RETRY')
    })
  }

  it('with a second response after it: the first counts, the second reaches nobody', async (t) => {
    const good = `${head('etag: "a"', 'content-range: bytes 3-5/6', 'content-length: 3')}def`
    const { text } = await forged(t, `${good}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`)
    assert.equal(text, 'abcdef')
  })

  it('that breaks off again and again ends with an error', async (t) => {
    const { server, client } = await startPair(t)
    const composed = client.compose(interceptors.retry({ minTimeout: 1, maxTimeout: 1, maxRetries: 2 }))
    const response = composed.request({ path: '/', method: 'GET' })
    const first = await server.accept()
    await first.head()
    first.send(FIRST).end()
    const error = failure((await response).body.text())
    for (let i = 0; i < 2; i++) {
      const peer = await server.accept()
      await peer.head()
      peer.send(head('etag: "a"', 'content-range: bytes 3-5/6', 'content-length: 3')).end()
    }
    const { attempts } = (await error) as unknown as { attempts: unknown[] }
    assert.equal(attempts.length, 3)
  })
})
