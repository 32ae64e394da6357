import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { Client, interceptors } from '../../../src/index.ts'
import { overEachWire, startOrigin, wireOptions } from '../../support/wire.ts'
import { DigestOrigin } from './origin.ts'

const USER = { username: 'Mufasa', password: 'Circle of Life' }

overEachWire('interceptors.auth with Digest', (wire) => {
  async function open(t: TestContext, user = USER) {
    const origin = new DigestOrigin()
    const { url } = await startOrigin(t, wire, origin.listener)
    const client = new Client(url, wireOptions(wire))
    t.after(() => client.destroy())
    const composed = client.compose(interceptors.auth({ digest: user }))
    const send = async (path: string, body: string | Readable | null = null) => {
      const query = path === '/query' ? { a: 'b c' } : null
      const response = await composed.request({ path, method: body === null ? 'GET' : 'POST', body, query })
      return `${response.statusCode} ${await response.body.text()}`
    }
    return { origin, send }
  }

  test('answers the strongest challenge, and the next requests before they are challenged', async (t) => {
    const { origin, send } = await open(t)
    assert.equal(await send('/query'), '200 welcome')
    assert.equal(await send('/b', 'text'), '200 welcome')
    assert.equal(await send('/c'), '200 welcome')
    const counts = origin.notes.map(({ authorization }) => /nc=(\w+)/.exec(authorization ?? '')?.[1])
    assert.deepEqual(counts, [undefined, '00000001', '00000002', '00000003'])
    assert.equal(origin.notes[2]!.body, 'text')
  })

  test('a nonce that is stale is replaced, also one that was used up meanwhile', async (t) => {
    const { origin, send } = await open(t)
    await send('/a')
    origin.nonce = 'second'
    origin.stale = 1
    assert.equal(await send('/b'), '200 welcome')
    // The old nonce, the one of the challenge, the one after it.
    assert.equal(origin.notes.length, 5)
  })

  test('a server that calls every nonce stale is asked three times', async (t) => {
    const { origin, send } = await open(t)
    origin.stale = Number.POSITIVE_INFINITY
    assert.equal(await send('/a'), '401 who are you?')
    assert.equal(origin.notes.length, 3)
  })

  test('wrong credentials are sent once for a challenge', async (t) => {
    const { origin, send } = await open(t, { ...USER, password: 'secret' })
    assert.equal(await send('/a'), '401 who are you?')
    assert.equal(origin.notes.length, 2)
  })

  test('the next nonce of the server is used, its count begins anew', async (t) => {
    const { origin, send } = await open(t)
    origin.nextNonce = 'next'
    for (const path of ['/a', '/b', '/c']) assert.equal(await send(path), '200 welcome')
    const nonces = origin.notes.map(({ authorization }) =>
      /nonce="(\w+)".*nc=(\w+)/.exec(authorization ?? ''),
    )
    assert.deepEqual(
      nonces.map((match) => match?.slice(1).join(' ')),
      [undefined, 'first 00000001', 'next 00000001', 'next 00000002'],
    )
  })

  test('concurrent requests with one nonce have counts of their own', async (t) => {
    const { origin, send } = await open(t)
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => send(`/${i}`)))
    assert.deepEqual(new Set(all), new Set(['200 welcome']))
    assert.equal(origin.used.size, 20)
  })

  test('a body that cannot be sent again: its 401 is delivered, and the next request knows the challenge', async (t) => {
    const { origin, send } = await open(t)
    assert.equal(await send('/a', Readable.from(['one', 'two'])), '401 who are you?')
    assert.equal(await send('/b', Readable.from(['one', 'two'])), '200 welcome')
    assert.deepEqual(
      origin.notes.map(({ body }) => body),
      ['onetwo', 'onetwo'],
    )
  })
})
