/** Bodies whose length is not what was announced. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { memoryPair, requestLines } from '../support/memory-client.ts'
import { OK, send } from '../support/scripted-client.ts'

async function* generate(...chunks: string[]): AsyncGenerator<string> {
  yield* chunks
}

const length = (bytes: number): { headers: Record<string, string>; method: 'POST' } => ({
  method: 'POST',
  headers: { 'content-length': String(bytes) },
})

describe('strictContentLength', () => {
  test('a known length that differs fails the request before a byte is written', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    const refused = send(client, { ...length(3), body: 'four' })
    const next = send(client)
    await settle()
    assert.equal(refused.error?.name, 'RequestContentLengthMismatchError')
    assert.equal((refused.error as { code?: string }).code, 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH')
    assert.deepEqual(requestLines(sockets[0]!.written), ['GET /'])
    await say(OK)
    assert.equal(next.body, 'ok')
  })

  for (const [title, chunks] of [
    ['more', ['ab', 'cde']],
    ['less', ['ab']],
    ['nothing', []],
  ] as const) {
    test(`a source that brings ${title} than announced fails the request and costs the connection`, async (t) => {
      for (const body of [generate(...chunks), Readable.from(generate(...chunks), { objectMode: false })]) {
        const { client, sockets, settle, say } = memoryPair(t)
        const refused = send(client, { ...length(4), body })
        const next = send(client)
        await settle()
        assert.equal(refused.error?.name, 'RequestContentLengthMismatchError')
        assert.match(refused.error!.message, /^Request body length does not match content-length header/)
        assert.equal(refused.errors.length, 1)
        assert.doesNotMatch(sockets[0]!.written, /cde/, 'what is too much is not sent')
        assert.equal(sockets[0]!.destroyed, true)
        await say(OK)
        assert.equal(next.body, 'ok')
      }
    })
  }

  test('false: a warning instead', async (t) => {
    const warnings: string[] = []
    t.mock.method(process, 'emitWarning', (warning: Error) => warnings.push(warning.name))
    for (const body of ['four!', generate('four', '!')]) {
      const { client, sockets, settle, say } = memoryPair(t, { strictContentLength: false })
      const handler = send(client, { ...length(4), body })
      await settle()
      assert.match(sockets[0]!.written, /\r\ncontent-length: \d\r\n/)
      await say(OK)
      assert.equal(handler.body, 'ok')
    }
    assert.ok(warnings.length >= 2)
    assert.ok(warnings.every((name) => name === 'RequestContentLengthMismatchError'))
  })

  test('the announced length is sent when the source keeps to it', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    send(client, { ...length(4), body: generate('ab', 'cd') })
    await settle()
    assert.match(sockets[0]!.written, /\r\ncontent-length: 4\r\n\r\nabcd$/)
  })
})

test('a source that fails fails the request with that error, and costs the connection', async (t) => {
  const reason = new Error('disk gone')
  const sources = [
    (async function* () {
      yield 'a'
      throw reason
    })(),
    new Readable({
      read() {
        this.destroy(reason)
      },
    }),
  ]
  for (const body of sources) {
    const { client, settle, say } = memoryPair(t)
    const handler = send(client, { method: 'POST', body })
    const next = send(client)
    await settle()
    assert.deepEqual(handler.errors, [reason])
    await settle()
    await say(OK)
    assert.equal(next.body, 'ok')
  }
})
