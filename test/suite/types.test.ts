/** The types that callers see. The type checker makes the assertions; running this proves nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  Client,
  ConnectData,
  ResponseData,
  StreamData,
  StreamFactoryData,
  UpgradeData,
} from '../../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Never called. */
export async function declared(client: Client): Promise<true[]> {
  const options = { path: '/', method: 'GET' }
  const mine = { ...options, opaque: { id: 1 } }

  const plain = await client.request(options)
  const typed = await client.request(mine)
  const raw = await client.request({ ...mine, responseHeaders: 'raw' })
  const streamed = await client.stream(mine, (data) => {
    const given: Same<typeof data, StreamFactoryData<{ id: number }>> = true
    assert.equal(given, true)
    return process.stdout
  })
  const connected = await client.connect({ path: 'a:1', opaque: 'x' as string })
  const upgraded = await client.upgrade({ path: '/', opaque: 5 as number })
  client.pipeline(mine, ({ opaque, body }) => {
    const given: Same<typeof opaque, { id: number }> = true
    assert.equal(given, true)
    return body
  })
  client.request(mine, (_error, data) => {
    const status: Same<typeof data.statusCode, number> = true
    assert.equal(status, true)
  })

  const a: Same<typeof plain, ResponseData> = true
  const b: Same<typeof typed, ResponseData<{ id: number }>> = true
  const c: Same<typeof raw.headers, string[]> = true
  const d: Same<typeof streamed, StreamData<{ id: number }>> = true
  const e: Same<typeof connected, ConnectData<string>> = true
  const f: Same<typeof upgraded, UpgradeData<number>> = true

  // @ts-expect-error: path is required
  client.request({ method: 'GET' }).catch(() => {})
  // @ts-expect-error: a body is text, bytes, a stream or an iterable
  client.request({ ...options, body: 5 }).catch(() => {})
  // @ts-expect-error: a header value is not an object
  client.request({ ...options, headers: { a: {} } }).catch(() => {})
  // @ts-expect-error: connect() has no method
  client.connect({ path: 'a:1', method: 'GET' }).catch(() => {})
  return [a, b, c, d, e, f]
}

test('opaque and raw headers are typed through', () => {
  assert.equal(typeof declared, 'function')
})
