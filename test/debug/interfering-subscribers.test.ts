/** Subscribers run inside the client. Whatever they do to the request or the client, both stay consistent. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { buildConnector, errors } from '../../src/index.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { type Listener, startOrigin, type Wire } from '../support/wire.ts'
import { ChannelLog, hear } from './channel-log.ts'

const WIRES: readonly Wire[] = [
  { name: 'h1', secure: false, multiplexes: false },
  { name: 'h2c', secure: false, multiplexes: true },
]

const REQUEST_CHANNELS = [
  'undici:request:create',
  'undici:client:sendHeaders',
  'undici:request:bodyChunkSent',
  'undici:request:bodySent',
  'undici:request:headers',
  'undici:request:bodyChunkReceived',
]

/** No part of the request has been sent yet. */
const BEFORE_FIRST_BYTE = ['undici:request:create', 'undici:client:sendHeaders']

const CONNECT_CHANNELS = ['undici:client:beforeConnect', 'undici:client:connected']

const answer: Listener = (request, response) => {
  request.resume().on('end', () => response.end('ok'))
}

/** The permitted calls of a handler: one final call, and nothing after it. */
function assertSettledOnce({ calls }: RecordingHandler, log: ChannelLog): void {
  const last = calls.indexOf('onResponseError')
  assert.ok(last >= 0, 'the request has failed')
  assert.equal(last, calls.length - 1, `nothing after the end: ${calls.join(' ')}`)
  assert.equal(log.of('request:error').length, 1)
  assert.equal(log.of('request:trailers').length, 0)
}

for (const wire of WIRES) {
  describe(`subscribers over ${wire.name}`, () => {
    for (const channel of REQUEST_CHANNELS) {
      for (const body of ['whole', ['in', 'pieces']]) {
        const kind = typeof body === 'string' ? 'a whole body' : 'a body in pieces'

        it(`may abort a request with ${kind} on ${channel}`, async (t) => {
          const paths: string[] = []
          const origin = await startOrigin(t, wire, (request, response) => {
            paths.push(request.url!)
            answer(request, response)
          })
          const client = origin.client()
          const log = new ChannelLog(t)
          const reason = new Error('not this one')
          hear(t, channel, ({ request }) => {
            if (request.path === '/doomed') request.abort(reason)
          })
          const handler = new RecordingHandler()
          client.dispatch({ path: '/doomed', method: 'POST', body }, handler)
          await handler.settled
          assert.equal(handler.error, reason)

          const next = await client.request({ path: '/next', method: 'GET' })
          assert.equal(await next.body.text(), 'ok')
          if (BEFORE_FIRST_BYTE.includes(channel)) assert.deepEqual(paths, ['/next'])
          // Closing waits for everything that counts as running or waiting.
          await client.close()
          const doomed = log.of('request:trailers').filter(({ request }) => request.path === '/doomed')
          assert.equal(doomed.length, 0)
          assert.equal(log.of('request:error').length, 1)
          assert.equal(handler.calls.filter((call) => call === 'onResponseError').length, 1)
          assert.equal(handler.calls.at(-1), 'onResponseError')
        })

        it(`may destroy the client of a request with ${kind} on ${channel}`, async (t) => {
          const origin = await startOrigin(t, wire, answer)
          const client = origin.client()
          const log = new ChannelLog(t)
          let destroyed: Promise<unknown> | null = null
          hear(t, channel, () => {
            destroyed ??= client.destroy()
          })
          const handler = new RecordingHandler()
          client.dispatch({ path: '/', method: 'POST', body }, handler)
          await handler.settled
          await destroyed
          assert.ok(handler.error instanceof errors.ClientDestroyedError)
          assertSettledOnce(handler, log)
        })
      }
    }

    for (const channel of CONNECT_CHANNELS) {
      it(`may destroy the client on ${channel}`, async (t) => {
        const origin = await startOrigin(t, wire, answer)
        let attempts = 0
        const connector = buildConnector({})
        const client = origin.client({
          connect: (options, callback) => {
            attempts++
            connector(options, callback)
          },
        })
        const log = new ChannelLog(t)
        let destroyed: Promise<unknown> | null = null
        hear(t, channel, () => {
          destroyed ??= client.destroy()
        })
        const handler = new RecordingHandler()
        client.dispatch({ path: '/', method: 'GET' }, handler)
        await handler.settled
        await destroyed
        assertSettledOnce(handler, log)
        assert.equal(attempts, channel === 'undici:client:beforeConnect' ? 0 : 1)
      })
    }

    it('may abort many requests as they are created', async (t) => {
      const origin = await startOrigin(t, wire, answer)
      const client = origin.client()
      hear(t, 'undici:request:create', ({ request }) => {
        if (request.path === '/doomed') request.abort()
      })
      const handlers = Array.from({ length: 200 }, () => new RecordingHandler())
      for (const handler of handlers) client.dispatch({ path: '/doomed', method: 'GET' }, handler)
      assert.ok(handlers.every(({ error }) => error instanceof errors.RequestAbortedError))
      assert.equal(client.stats.pending, 0)
      const { body } = await client.request({ path: '/', method: 'GET' })
      assert.equal(await body.text(), 'ok')
      assert.equal(client.stats.size, 0)
      await client.close()
    })

    it('may make requests themselves', async (t) => {
      const origin = await startOrigin(t, wire, answer)
      const client = origin.client()
      const inner: RecordingHandler[] = []
      for (const channel of REQUEST_CHANNELS) {
        hear(t, channel, ({ request }) => {
          if (request.path !== '/outer') return
          const handler = new RecordingHandler()
          inner.push(handler)
          client.dispatch({ path: '/inner', method: 'GET' }, handler)
        })
      }
      const { body } = await client.request({ path: '/outer', method: 'POST', body: 'x' })
      assert.equal(await body.text(), 'ok')
      assert.equal(inner.length, REQUEST_CHANNELS.length)
      for (const handler of inner) assert.equal((await handler.settled).body, 'ok')
    })
  })
}
