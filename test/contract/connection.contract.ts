/**
 * What every `Connection` promises its owner, whatever protocol it speaks. Run for each of them by the test files beside
 * this one.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type {
  Connection,
  ConnectionOwner,
  ConnectionSettings,
  Http2Settings,
} from '../../src/connection/connection.ts'
import { readClientOptions } from '../../src/dispatcher/client-options.ts'
import { callersReason, endReason } from '../../src/request/end-reason.ts'
import type { Request } from '../../src/request/request.ts'
import { turns } from '../support/fake-clock.ts'
import { connectionReset } from '../support/memory-socket.ts'
import { MemoryTransport } from '../support/memory-transport.ts'
import { queued } from '../support/queued-request.ts'
import { type Interference, RecordingHandler } from '../support/recording-handler.ts'

/** One protocol: how to make a connection, and how a peer speaks on it. */
export interface Protocol {
  readonly name: string
  readonly multiplexes: boolean
  /** The connection outlives a request that is given up. */
  readonly survivesAbort: boolean
  connect(
    transport: MemoryTransport,
    owner: ConnectionOwner,
    settings: ConnectionSettings & Http2Settings,
  ): Connection
  /** What a peer sends first, if anything. */
  readonly greeting: string
  /** A whole response with the body `ok` to the request that was taken as number `n`, from 0 on. */
  response(n: number): string
  /** Only the head of one. */
  head(n: number): string
}

class Owner implements ConnectionOwner {
  pipelining = 2
  maxConcurrentStreams = 100
  /** All calls, in order. */
  readonly calls: string[] = []
  readonly returned: Request[] = []

  onCapacity(): void {
    this.calls.push('capacity')
  }

  onReturned(requests: readonly Request[]): void {
    this.calls.push(`returned ${requests.length}`)
    this.returned.push(...requests)
  }

  onState({ state }: Connection): void {
    const idle = 'wasIdle' in state && state.wasIdle ? ' idle' : ''
    this.calls.push(state.at === 'open' ? 'open' : `${state.at} ${state.reason.kind}${idle}`)
  }

  onHandlerError(error: unknown): void {
    throw error
  }

  onPing(): void {}
}

export function describeConnection(protocol: Protocol): void {
  function start() {
    const transport = new MemoryTransport()
    const owner = new Owner()
    const settings = { ...readClientOptions({}), authority: 'a.test' }
    const connection = protocol.connect(transport, owner, settings)
    transport.say(protocol.greeting)
    owner.calls.length = 0
    const offer = (
      interfere?: Interference,
    ): { handler: RecordingHandler; request: Request; taken: boolean } => {
      const handler = new RecordingHandler(interfere)
      const request = queued(handler)
      return { handler, request, taken: connection.offer(request) }
    }
    return { transport, owner, connection, offer }
  }

  describe(`a connection over ${protocol.name}`, () => {
    test('is open, carries nothing, and says so without doing anything', async () => {
      const { transport, owner, connection } = start()
      await turns(2)
      const { written } = transport
      assert.equal(connection.state.at, 'open')
      assert.equal(connection.running, 0)
      assert.equal(connection.busy, false)
      assert.equal(connection.multiplexes, protocol.multiplexes)
      assert.equal(connection.isLimitKnown, true)
      await turns(2)
      assert.equal(transport.written, written)
      assert.deepEqual(owner.calls, [])
      connection.destroy(endReason('idle', new Error('over')))
    })

    test('takes a request, delivers its response, and has room again', async () => {
      const { transport, owner, connection, offer } = start()
      const { handler, taken } = offer()
      assert.equal(taken, true)
      assert.equal(connection.running, 1)
      assert.equal(connection.reused, false)
      await turns(2)
      transport.say(protocol.response(0))
      assert.equal(handler.body, 'ok')
      assert.equal(handler.calls.at(-1), 'onResponseEnd')
      assert.equal(connection.running, 0)
      assert.ok(owner.calls.includes('capacity'))
      connection.destroy(endReason('idle', new Error('over')))
    })

    test('a request whose handler throws at its start fails alone', async () => {
      const { connection, offer } = start()
      const mine = new Error('mine')
      const { handler, taken } = offer((method) => {
        if (method === 'onRequestStart') throw mine
      })
      assert.equal(taken, true)
      assert.equal(handler.error, mine)
      assert.equal(connection.state.at, 'open')
      assert.equal(connection.running, 0)
      connection.destroy(endReason('idle', new Error('over')))
    })

    test('a loss fails what was sent, and is reported once, with capacity after it', async () => {
      const { transport, owner, connection, offer } = start()
      const { handler } = offer()
      await turns(2)
      owner.calls.length = 0
      transport.sink!.onTransportClosed(connectionReset())
      assert.equal(handler.error?.message, 'read ECONNRESET')
      assert.equal(handler.errors.length, 1)
      assert.deepEqual(owner.calls, ['ended torn-down', 'capacity'])
      assert.deepEqual(owner.returned, [])
      assert.equal(connection.running, 0)
    })

    test('a loss of an idle connection says so', async () => {
      const { transport, owner } = start()
      await turns(2)
      owner.calls.length = 0
      transport.sink!.onTransportClosed(connectionReset())
      assert.deepEqual(owner.calls, ['ended torn-down idle', 'capacity'])
    })

    test('a request that comes back is not settled, and comes before the last state', async () => {
      const { transport, owner, offer } = start()
      const first = offer()
      if (!protocol.multiplexes) await turns(2)
      const second = offer()
      assert.deepEqual([first.taken, second.taken], [true, true])
      owner.calls.length = 0
      transport.sink!.onTransportClosed(connectionReset())
      assert.ok(owner.returned.includes(second.request))
      for (const { request, handler } of [first, second]) {
        assert.equal(request.settled, !owner.returned.includes(request))
        assert.equal(handler.errors.length, request.settled ? 1 : 0)
      }
      assert.deepEqual(owner.calls, [`returned ${owner.returned.length}`, 'ended torn-down', 'capacity'])
    })

    test('destroy passes a value of the caller on as it is', async () => {
      const { transport, owner, connection, offer } = start()
      const { handler } = offer()
      await turns(2)
      const mine = new Error('mine')
      connection.destroy(callersReason('destroyed', mine))
      transport.sink!.onTransportClosed(null)
      assert.equal(handler.error, mine)
      assert.equal('phase' in mine, false)
      assert.deepEqual(owner.returned, [])
      assert.equal(owner.calls.filter((call) => call.startsWith('ended destroyed')).length, 1)
    })

    test('destroy adds the context of the request to an error of the library', async () => {
      const { transport, connection, offer } = start()
      const { handler } = offer()
      await turns(2)
      transport.say(protocol.head(0))
      connection.destroy(endReason('destroyed', new Error('over')))
      transport.sink!.onTransportClosed(null)
      await turns(2)
      assert.equal(handler.error?.message, 'over')
      assert.equal((handler.error as { phase?: string }).phase, 'body')
    })

    test('a connection that closes takes nothing, and sends nothing', async () => {
      const { transport, connection, offer } = start()
      await turns(2)
      connection.destroy(endReason('server-name', new Error('over')))
      const { written } = transport
      const { handler, taken, request } = offer()
      await turns(2)
      assert.equal(taken, false)
      assert.equal(request.settled, false)
      assert.deepEqual(handler.calls, [])
      assert.equal(transport.written, written)
      assert.equal(connection.state.at, 'closing')
      transport.sink!.onTransportClosed(null)
      assert.equal(connection.state.at, 'ended')
    })

    test('what throws ends the connection and all that runs on it', async () => {
      const { transport, owner, connection, offer } = start()
      const { handler } = offer()
      await turns(2)
      connection.onBroken(new Error('thrown'))
      connection.onBroken(new Error('thrown again'))
      transport.sink!.onTransportClosed(null)
      await turns(2)
      assert.equal(handler.error?.message, 'thrown')
      assert.equal(handler.errors.length, 1)
      assert.ok(owner.calls.includes('ended broken'))
    })

    test('a request that is given up runs no longer', async () => {
      const { transport, connection, offer } = start()
      const { handler, request } = offer()
      await turns(2)
      const mine = new Error('mine')
      request.abort(mine)
      assert.equal(handler.error, mine)
      assert.equal(connection.state.at, protocol.survivesAbort ? 'open' : 'closing')
      if (!protocol.survivesAbort) transport.sink!.onTransportClosed(null)
      assert.equal(connection.running, 0)
      if (protocol.survivesAbort) connection.destroy(endReason('idle', new Error('over')))
    })

    test('an idle connection does not keep the process alive, a request does', async () => {
      const { transport, connection, offer } = start()
      connection.becomeIdle()
      await turns(3)
      assert.equal(transport.referenced, false)
      let { taken } = offer()
      // Over HTTP/1.1 it is inspected first.
      for (let left = 3; !taken && left > 0; left--) {
        await turns(1)
        taken = offer().taken
      }
      assert.equal(taken, true)
      assert.equal(transport.referenced, true)
      connection.destroy(endReason('destroyed', new Error('over')))
    })
  })
}
