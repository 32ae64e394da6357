import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Client } from '../../src/index.ts'
import { turns } from '../support/fake-clock.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { OK, recordEvents, startPair } from '../support/scripted-client.ts'

const GET = { path: '/', method: 'GET' } as const

describe('events of a client', () => {
  test('connect and disconnect carry the origin, the client and the cause', async (t) => {
    const { server, client } = await startPair(t)
    const connected = once(client, 'connect')
    const lost = once(client, 'disconnect')
    client.dispatch(GET, new RecordingHandler())
    const connection = await server.accept()
    const connectArguments = await connected
    assert.equal((connectArguments[0] as URL).origin, server.url)
    assert.deepEqual(connectArguments[1], [client])
    assert.equal(connectArguments.length, 2)
    await connection.head()
    connection.end()
    const [origin, targets, error] = (await lost) as [URL, unknown[], Error & { code: string }]
    assert.equal(origin, connectArguments[0])
    assert.deepEqual(targets, [client])
    assert.equal(error.code, 'UND_ERR_SOCKET')
    assert.equal(error.message, 'other side closed')
  })

  test('one request: connect, the calls of the handler, drain', async (t) => {
    const { server, client } = await startPair(t)
    const log: string[] = []
    for (const name of ['connect', 'disconnect', 'drain']) client.on(name, () => log.push(name))
    const handler = new RecordingHandler(undefined, log, 'a')
    client.dispatch(GET, handler)
    const connection = await server.accept()
    await connection.head()
    connection.send(OK)
    await handler.settled
    await turns(1)
    assert.deepEqual(log, [
      'connect',
      'a.onRequestStart',
      'a.onRequestSent',
      'a.onResponseStarted',
      'a.onResponseStart',
      'a.onResponseData',
      'a.onResponseEnd',
      'drain',
    ])
  })

  test('the server kills the first of two: its error, disconnect, connect, the second', async (t) => {
    const { server, client } = await startPair(t)
    const log: string[] = []
    for (const name of ['connect', 'disconnect', 'drain']) client.on(name, () => log.push(name))
    const first = new RecordingHandler(undefined, log, 'a')
    const second = new RecordingHandler(undefined, log, 'b')
    client.dispatch(GET, first)
    client.dispatch(GET, second)
    const connection = await server.accept()
    await connection.head()
    connection.end()
    const next = await server.accept()
    await next.head()
    next.send(OK)
    await second.settled
    await turns(1)
    assert.deepEqual(
      log.filter((entry) => !/Sent|Started|ResponseStart$|Data/.test(entry)),
      [
        'connect',
        'a.onRequestStart',
        'a.onResponseError',
        'disconnect',
        'connect',
        'b.onRequestStart',
        'b.onResponseEnd',
        'drain',
      ],
    )
  })

  test('a failed connect: the requests, then connectionError; never disconnect', async () => {
    const reason = new Error('refused')
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => queueMicrotask(() => callback(reason, null)),
    })
    const log: string[] = []
    client.on('disconnect', () => log.push('disconnect'))
    const failed = once(client, 'connectionError')
    client.on('connectionError', () => log.push('connectionError'))
    const handler = new RecordingHandler(undefined, log, 'a')
    client.dispatch(GET, handler)
    const [origin, targets, error] = await failed
    assert.ok(origin instanceof URL)
    assert.deepEqual(targets, [client])
    assert.equal(error, reason)
    assert.deepEqual(log, ['a.onResponseError', 'connectionError'])
    await client.destroy()
    assert.deepEqual(log, ['a.onResponseError', 'connectionError'])
  })

  test('error: what onResponseError threw', async (t) => {
    const { server, client } = await startPair(t)
    const thrown = new Error('my mistake')
    const reported = once(client, 'error')
    client.dispatch(
      GET,
      new RecordingHandler((method) => {
        if (method === 'onResponseError') throw thrown
      }),
    )
    ;(await server.accept()).end()
    assert.deepEqual(await reported, [thrown])
  })

  test('error without a listener ends in uncaughtException, not in the client', async (t) => {
    const { server, client } = await startPair(t)
    client.removeAllListeners('error')
    const uncaught = new Promise<unknown>((resolve) => {
      const others = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.once('uncaughtException', (error) => {
        for (const other of others) process.on('uncaughtException', other)
        resolve(error)
      })
    })
    const thrown = new Error('my mistake')
    client.dispatch(
      GET,
      new RecordingHandler((method) => {
        if (method === 'onResponseError') throw thrown
      }),
    )
    const second = new RecordingHandler()
    client.dispatch(GET, second)
    ;(await server.accept()).end()
    assert.equal(await uncaught, thrown)
    const next = await server.accept()
    await next.head()
    next.send(OK)
    await second.settled
    assert.equal(second.body, 'ok')
  })

  test('a listener that throws does not stop the client', async () => {
    const socket = new MemorySocket()
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => callback(null, socket),
    })
    const uncaught: unknown[] = []
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', (error) => uncaught.push(error))
    client.on('connect', () => {
      throw new Error('in connect')
    })
    client.on('disconnect', () => {
      throw new Error('in disconnect')
    })
    const handler = new RecordingHandler()
    client.dispatch(GET, handler)
    await turns(1)
    socket.say(OK)
    await handler.settled
    await client.close()
    await turns(1)
    process.removeAllListeners('uncaughtException')
    for (const other of others) process.on('uncaughtException', other)
    assert.deepEqual(
      uncaught.map((error) => (error as Error).message),
      ['in connect', 'in disconnect'],
    )
    assert.equal(handler.body, 'ok')
  })

  test('listeners may dispatch and destroy', async (t) => {
    const { server, client } = await startPair(t)
    const late = new RecordingHandler()
    client.once('disconnect', () => client.dispatch(GET, late))
    const first = new RecordingHandler()
    client.dispatch(GET, first)
    ;(await server.accept()).end()
    const next = await server.accept()
    await next.head()
    client.on('disconnect', () => void client.destroy())
    next.end()
    await late.settled
    await turns(1)
    assert.equal(client.destroyed, true)
    assert.deepEqual(recordEvents(client), [])
  })
})
