import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Http2Connection } from '../../src/connection/http2/connection.ts'
import { OriginStreams } from '../../src/connection/http2/origin-streams.ts'
import { readClientOptions } from '../../src/dispatcher/client-options.ts'
import {
  DATA,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  GOAWAY,
  HEADERS,
  SETTINGS,
} from '../../src/protocol/http2/constants.ts'
import { turns } from '../support/fake-clock.ts'
import { MemoryTransport } from '../support/memory-transport.ts'
import { queued } from '../support/queued-request.ts'
import { describeConnection } from './connection.contract.ts'

/** RFC 9113 §4.1, as latin1. */
function frame(type: number, flags: number, streamId: number, payload = ''): string {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(streamId, 5)
  return head.toString('latin1') + payload
}

/** The ids of a client are odd. */
const streamOf = (n: number): number => 2 * n + 1

/** `:status: 200` in the static table of HPACK (RFC 7541 appendix A). */
const OK = '\x88'

describeConnection({
  name: 'HTTP/2',
  multiplexes: true,
  survivesAbort: true,
  connect: (transport, owner, settings) =>
    new Http2Connection(transport, owner, settings, { connect: 1, secured: null }, new OriginStreams()),
  greeting: frame(SETTINGS, 0, 0),
  response: (n) =>
    frame(HEADERS, FLAG_END_HEADERS, streamOf(n), OK) + frame(DATA, FLAG_END_STREAM, streamOf(n), 'ok'),
  head: (n) => frame(HEADERS, FLAG_END_HEADERS, streamOf(n), OK),
})

test('a connection over HTTP/2 that drains reports it once, though a second GOAWAY names an error', async () => {
  const states: string[] = []
  const transport = new MemoryTransport()
  const owner = {
    pipelining: 1,
    maxConcurrentStreams: 100,
    onCapacity() {},
    onReturned() {},
    onState: ({ state }: Http2Connection) => void states.push(state.at),
    onHandlerError() {},
    onPing() {},
  }
  const settings = { ...readClientOptions({}), authority: 'a.test' }
  const connection = new Http2Connection(
    transport,
    owner as never,
    settings,
    { connect: 1, secured: null },
    new OriginStreams(),
  )
  transport.say(frame(SETTINGS, 0, 0))
  assert.equal(connection.offer(queued()), true)
  await turns(2)
  transport.say(frame(GOAWAY, 0, 0, '\0\0\0\x01\0\0\0\0'))
  transport.say(frame(GOAWAY, 0, 0, '\0\0\0\x01\0\0\0\x0b'))
  assert.deepEqual(states, ['draining'])
  transport.sink!.onTransportClosed(null)
  assert.deepEqual(states, ['draining', 'ended'])
})
