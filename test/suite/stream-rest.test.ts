/** `stream()` into a Writable that ends before the response does: the rest is nobody's, and is not read at any price. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { it } from 'node:test'
import { MAX_DISCARDED_BYTES, MAX_DISCARDING_TIME } from '../../src/relay/discarded-body.ts'
import { deferred } from '../support/exchange.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' } as const

/** Ends with the first piece of data. */
class Impatient extends Writable {
  override _write(_chunk: Buffer, _encoding: string, callback: () => void): void {
    callback()
    this.end()
  }
}

overEachWire('stream(): the rest of a response whose Writable has ended', (wire) => {
  it('is read for a second', async (t) => {
    const clock = FakeClock.install(t)
    const closed = deferred()
    const origin = await startOrigin(t, wire, (_request, response) => {
      response.on('close', () => closed.resolve())
      response.write('a')
    })
    await origin.client().stream(GET, () => new Impatient())
    await clock.advance(MAX_DISCARDING_TIME)
    await closed.promise
  })

  it('is read up to 64 KiB', async (t) => {
    FakeClock.install(t)
    const responses: ServerResponse[] = []
    const closed = deferred()
    const origin = await startOrigin(t, wire, (_request, response) => {
      responses.push(response)
      response.on('close', () => closed.resolve())
      response.on('error', () => {})
      response.write('a')
    })
    await origin.client().stream(GET, () => new Impatient())
    responses[0]!.write(Buffer.alloc(MAX_DISCARDED_BYTES + 1))
    await closed.promise
  })

  it('leaves the connection to the next request if it is short', async (t) => {
    const clock = FakeClock.install(t)
    const responses: ServerResponse[] = []
    const origin = await startOrigin(t, wire, (_request, response) => {
      responses.push(response)
      if (responses.length === 1) response.write('a')
      else response.end()
    })
    const client = origin.client()
    await client.stream(GET, () => new Impatient())
    responses[0]!.end(Buffer.alloc(MAX_DISCARDED_BYTES))
    await (await client.request(GET)).body.dump()
    await clock.advance(MAX_DISCARDING_TIME)
    await (await client.request(GET)).body.dump()
    assert.equal(origin.sockets.length, 1)
  })
})
