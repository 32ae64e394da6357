import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import { describe, test } from 'node:test'
import { fetch, parseEvents, Response, request, type ServerEvent } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { ended, h1, setStage } from './stage.ts'

const TEXT = 'data: é1\r\n\r\nid:7\rdata:2\r\rdata\n\n'
const EVENTS: readonly ServerEvent[] = [
  { event: 'message', data: 'é1', id: '' },
  { event: 'message', data: '2', id: '7' },
  { event: 'message', data: '', id: '7' },
]
const BYTES = Buffer.from(TEXT)

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of iterable) items.push(item)
  return items
}

function* bytewise(): Generator<Uint8Array> {
  for (const byte of BYTES) yield Uint8Array.of(byte)
}

async function* bytewiseLater(): AsyncGenerator<Uint8Array> {
  yield* bytewise()
}

describe('parseEvents reads', () => {
  const inputs: [name: string, make: () => Parameters<typeof parseEvents>[0]][] = [
    ['a string', () => TEXT],
    ['bytes', () => new Uint8Array(BYTES)],
    ['an array of chunks', () => ['data: é', '1\r\n\r', '\nid:7\rdata:2\r\rdata\n', '\n']],
    ['a generator', bytewise],
    ['an async generator', bytewiseLater],
    ['a Readable', () => Readable.from(bytewise())],
    ['a web stream', () => ReadableStream.from(bytewise())],
    ['a Response', () => new Response(TEXT)],
    ['a Response of the runtime', () => new globalThis.Response(TEXT)],
  ]
  for (const [name, make] of inputs) {
    test(name, async () => assert.deepEqual(await all(parseEvents(make())), EVENTS))
  }

  test('responses of fetch and request', async (t) => {
    const stage = await setStage(t, h1, [ended(TEXT), ended(TEXT), ended(TEXT)])
    const { url, agent: dispatcher } = stage
    assert.deepEqual(await all(parseEvents(await fetch(url, { dispatcher }))), EVENTS)
    assert.deepEqual(await all(parseEvents(await request(url, { dispatcher }))), EVENTS)
    assert.deepEqual(await all(parseEvents((await request(url, { dispatcher })).body)), EVENTS)
  })

  test('a response without a body', async () => {
    assert.deepEqual(await all(parseEvents(new Response(null))), [])
  })
})

describe('parseEvents', () => {
  test('gives comments if they are wanted', async () => {
    const text = ': hi\ndata: 1\n\n'
    assert.deepEqual(await all(parseEvents(text, { comments: true })), [
      { comment: 'hi' },
      { event: 'message', data: '1', id: '' },
    ])
    assert.equal((await all(parseEvents(text))).length, 1)
  })

  test('continues with an id', async () => {
    const [event] = await all(parseEvents('data: 1\n\n', { lastEventId: '7' }))
    assert.equal(event!.id, '7')
  })

  test('limits an event, after giving those before it', async () => {
    const iterator = parseEvents('data: 1234\n\ndata: 12345\n\n', { maxEventSize: 4 })
    assert.equal((await iterator.next()).value?.data, '1234')
    assert.equal((await failure(iterator.next())).message, 'Event exceeds maxEventSize')
    assert.equal((await iterator.next()).done, true)
  })

  test('ends the stream when the loop is left', async () => {
    const readable = Readable.from(bytewise())
    for await (const _ of parseEvents(readable)) break
    assert.ok(readable.destroyed)
  })

  test('passes on the failure of the stream', async () => {
    const readable = new Readable({ read() {} })
    readable.push('data: 1\n\n')
    const iterator = parseEvents(readable)
    assert.equal((await iterator.next()).value?.data, '1')
    readable.destroy(new Error('lost'))
    assert.equal((await failure(iterator.next())).message, 'lost')
  })

  test('refuses other values', async () => {
    for (const input of [undefined, null, 5, {}, { body: 5 }]) {
      assert.throws(() => parseEvents(input as never), {
        code: 'UND_ERR_INVALID_ARG',
        message: 'input must be a stream, an iterable or a response',
      })
    }
    assert.throws(() => parseEvents('', { maxEventSize: -1 }), { message: 'invalid maxEventSize' })
    assert.throws(() => parseEvents('', { lastEventId: 5 as never }), { message: 'invalid lastEventId' })
    const error = await failure(all(parseEvents([5] as never)))
    assert.equal(error.message, 'A chunk of an event stream must be a string or a Uint8Array')
  })
})
