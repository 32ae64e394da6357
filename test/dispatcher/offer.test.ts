import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../../src/dispatcher/client.ts'
import { offer } from '../../src/dispatcher/lifecycle.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

const CALL = { path: '/', method: 'GET' } as const

test('an offer is accepted, taken by a busy dispatcher, or refused', async () => {
  const idle = new Client('http://a.test', { connect: () => {} })
  const busy = new Client('http://a.test', { connect: () => {} })
  const handler = new RecordingHandler()
  assert.equal(offer(idle, { ...CALL, path: 'no path' }, handler), 'refused')
  assert.equal(handler.error?.name, 'InvalidArgumentError')
  // What was refused once is as good as any other afterwards.
  assert.equal(offer(busy, CALL, handler), 'busy')
  assert.equal(offer(busy, CALL, new RecordingHandler()), 'busy')
  await Promise.all([idle.destroy(), busy.destroy()])
  assert.equal(offer(busy, CALL, new RecordingHandler()), 'busy', 'and will never take another')
})

test('of a dispatcher of another make only its word is known', () => {
  const answers = [true, false]
  const dispatcher = { dispatch: () => answers.shift()! } as unknown as Client
  assert.equal(offer(dispatcher, CALL, new RecordingHandler()), 'accepted')
  assert.equal(offer(dispatcher, CALL, new RecordingHandler()), 'busy')
})
