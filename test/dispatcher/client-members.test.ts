import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Client } from '../../src/index.ts'
import { eventually } from '../support/fake-clock.ts'
import { OK, send, startPair } from '../support/scripted-client.ts'

describe('members of a client', () => {
  test('it keeps its state to itself', () => {
    const client = new Client('http://localhost:1')
    assert.deepEqual(
      Object.keys(client).filter((key) => !key.startsWith('_')),
      [],
    )
  })

  test('pipelining can be read and set; 1 unless given', () => {
    assert.equal(new Client('http://localhost:1').pipelining, 1)
    assert.equal(new Client('http://localhost:1', { pipelining: null }).pipelining, 1)
    const client = new Client('http://localhost:1', { pipelining: 3 })
    assert.equal(client.pipelining, 3)
    client.pipelining = 5
    assert.equal(client.pipelining, 5)
  })

  test('setting pipelining lets waiting requests go at once', async (t) => {
    const { server, client } = await startPair(t)
    const handlers = ['/1', '/2', '/3'].map((path) => send(client, { path, blocking: false }))
    const connection = await server.accept()
    await connection.until('GET /1')
    await connection.head()
    assert.deepEqual(client.stats, { connected: true, pending: 2, running: 1, size: 3 })
    client.pipelining = 3
    assert.deepEqual(client.stats, { connected: true, pending: 0, running: 3, size: 3 })
    await connection.until('GET /2')
    await connection.until('GET /3')
    connection.send(OK, OK, OK)
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.deepEqual(
      handlers.map((handler) => handler.body),
      ['ok', 'ok', 'ok'],
    )
  })

  test('stats is a fresh snapshot of what there is to do', async (t) => {
    const { server, client } = await startPair(t)
    const idle = client.stats
    assert.deepEqual(idle, { connected: false, pending: 0, running: 0, size: 0 })
    const one = send(client)
    const two = send(client)
    assert.deepEqual(client.stats, { connected: false, pending: 2, running: 0, size: 2 })
    assert.deepEqual(idle, { connected: false, pending: 0, running: 0, size: 0 })
    await once(client, 'connect')
    const connection = await server.accept()
    await connection.head()
    assert.deepEqual(client.stats, { connected: true, pending: 1, running: 1, size: 2 })
    connection.send(OK)
    await one.settled
    await connection.head()
    assert.deepEqual(client.stats, { connected: true, pending: 0, running: 1, size: 1 })
    connection.send(OK)
    await two.settled
    assert.deepEqual(client.stats, { connected: true, pending: 0, running: 0, size: 0 })
    connection.end()
    await eventually(() => !client.stats.connected)
  })

  test('requests that were given up while they waited do not count', async (t) => {
    const { client } = await startPair(t)
    const aborts: (() => void)[] = []
    for (let i = 0; i < 200; i++) {
      client.dispatch(
        { path: '/', method: 'GET' },
        {
          onRequestQueued: (abort) => aborts.push(abort),
          onRequestStart() {},
          onResponseStart() {},
          onResponseData() {},
          onResponseEnd() {},
          onResponseError() {},
        },
      )
    }
    assert.equal(client.stats.pending, 200)
    for (const [index, abort] of aborts.entries()) {
      abort()
      assert.equal(client.stats.pending, 199 - index)
    }
  })

  test('webSocketOptions has the limits for WebSocket connections', () => {
    assert.deepEqual(new Client('http://localhost:1').webSocketOptions, {
      maxFragments: 131072,
      maxPayloadSize: 134217728,
    })
    const client = new Client('http://localhost:1', { webSocket: { maxFragments: 0 } })
    assert.deepEqual(client.webSocketOptions, { maxFragments: 0, maxPayloadSize: 134217728 })
    Object.assign(client.webSocketOptions, { maxFragments: 7 })
    assert.equal(client.webSocketOptions.maxFragments, 0)
  })
})
