import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type TestContext, test } from 'node:test'
import { CANCEL } from '../../src/protocol/http2/constants.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { send } from '../support/scripted-client.ts'

const CHANNELS = [
  'undici:request:create',
  'undici:client:beforeConnect',
  'undici:client:connected',
  'undici:client:sendHeaders',
  'undici:request:bodyChunkSent',
  'undici:request:bodySent',
  'undici:request:headers',
  'undici:request:bodyChunkReceived',
  'undici:request:trailers',
  'undici:request:error',
]

type Message = Record<string, unknown> & { request?: unknown }

function record(t: TestContext): [string, Message][] {
  const messages: [string, Message][] = []
  for (const name of CHANNELS) {
    const listener = (message: unknown): void => {
      messages.push([name.slice('undici:'.length), message as Message])
    }
    subscribe(name, listener)
    t.after(() => unsubscribe(name, listener))
  }
  return messages
}

test('a request over HTTP/2 is seen on the channels in the order of HTTP/1.1', async (t) => {
  const messages = record(t)
  const { server, client } = await startH2Pair(t)
  const handler = send(client, { path: '/a', method: 'POST', body: 'hello', headers: { 'X-Own': 'yes' } })
  const peer = await server.accept()
  const { id } = await peer.request()
  peer.head(id, 200, ['x-answer', '1']).data(id, 'ok').headers(id, ['x-t', '2'], true)
  await handler.settled
  assert.deepEqual(
    messages.map(([name]) => name),
    [
      'request:create',
      'client:beforeConnect',
      'client:connected',
      'client:sendHeaders',
      'request:bodyChunkSent',
      'request:bodySent',
      'request:headers',
      'request:bodyChunkReceived',
      'request:trailers',
    ],
  )
  const at = Object.fromEntries(messages) as Record<string, Message>
  const { request } = at['request:create']!
  for (const [name, message] of messages) {
    if (name.startsWith('request:')) assert.equal(message.request, request, name)
  }
  const connected = at['client:connected']!['connectParams'] as Record<string, unknown>
  assert.equal(connected['version'], 'h2')
  assert.equal(at['client:sendHeaders']!['request'], request)
  assert.equal((at['client:sendHeaders']!['socket'] as { remotePort: number }).remotePort, server.port)
  assert.equal(
    at['client:sendHeaders']!['headers'],
    [
      'x-own: yes',
      `:authority: localhost:${server.port}`,
      ':method: POST',
      ':path: /a',
      ':scheme: http',
      'content-length: 5',
      '',
    ].join('\r\n'),
  )
  assert.equal(String(at['request:bodyChunkSent']!['chunk']), 'hello')
  const response = at['request:headers']!['response'] as { statusCode: number; headers: Buffer[] }
  assert.equal(response.statusCode, 200)
  assert.deepEqual(response.headers.map(String), ['x-answer', '1'])
  assert.ok(response.headers.every((item) => Buffer.isBuffer(item)))
  assert.equal(String(at['request:bodyChunkReceived']!['chunk']), 'ok')
  assert.deepEqual((at['request:trailers']!['trailers'] as Buffer[]).map(String), ['x-t', '2'])
})

test('headers that a subscriber adds go to the wire', async (t) => {
  const onCreate = (message: unknown): void => {
    const { request } = message as { request: { headers: string[]; addHeader(n: string, v: string): void } }
    request.addHeader('traceparent', '00-1')
    request.headers.push('X-Pushed', 'too')
  }
  subscribe('undici:request:create', onCreate)
  t.after(() => unsubscribe('undici:request:create', onCreate))
  const { server, client } = await startH2Pair(t)
  const handler = send(client)
  const peer = await server.accept()
  const { id, headers } = await peer.request()
  assert.equal(headers['traceparent'], '00-1')
  assert.equal(headers['x-pushed'], 'too')
  peer.respond(id)
  await handler.settled
})

test('a reset is an error, once', async (t) => {
  const messages = record(t)
  const { server, client } = await startH2Pair(t)
  const handler = send(client)
  const peer = await server.accept()
  peer.reset((await peer.request()).id, CANCEL)
  await handler.settled
  const failed = messages.filter(([name]) => name === 'request:error')
  assert.equal(failed.length, 1)
  assert.equal(failed[0]![1]['error'], handler.error)
  assert.ok(!messages.some(([name]) => name === 'request:trailers'))
})

test('CONNECT: created and sent, no head', async (t) => {
  const messages = record(t)
  const { server, client } = await startH2Pair(t)
  const tunnel = client.connect({ path: 'target.test:443' })
  const peer = await server.accept()
  peer.head((await peer.request()).id, 200)
  const { socket } = await tunnel
  socket.destroy()
  assert.deepEqual(
    messages.map(([name]) => name),
    ['request:create', 'client:beforeConnect', 'client:connected', 'client:sendHeaders', 'request:bodySent'],
  )
  const sent = messages.find(([name]) => name === 'client:sendHeaders')![1]
  assert.equal(sent['headers'], ':authority: target.test:443\r\n:method: CONNECT\r\n')
})
