/** The connection on a fake transport: behaviour that a client cannot observe or provoke. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Connection, ConnectionOwner } from '../../src/connection/connection.ts'
import { HeadParsers, Http1Connection } from '../../src/connection/http1/connection.ts'
import { readClientOptions } from '../../src/dispatcher/client-options.ts'
import type { ClientOptions, DispatchOptions } from '../../src/index.ts'
import { callersReason, endReason } from '../../src/request/end-reason.ts'
import type { Request } from '../../src/request/request.ts'
import { turns } from '../support/fake-clock.ts'
import { connectionReset } from '../support/memory-socket.ts'
import { MemoryTransport } from '../support/memory-transport.ts'
import { queued } from '../support/queued-request.ts'
import { type Interference, RecordingHandler } from '../support/recording-handler.ts'
import { OK, response } from '../support/scripted-client.ts'

class Owner implements ConnectionOwner {
  pipelining = 1
  capacity = 0
  maxConcurrentStreams = 100
  /** The reports, as text. */
  state = ''
  readonly returned: Request[] = []

  onCapacity(): void {
    this.capacity++
  }

  onReturned(requests: readonly Request[]): void {
    this.returned.push(...requests)
  }

  onState({ state }: Connection): void {
    assert.equal(this.state, '', 'an HTTP/1.1 connection reports one state, its last')
    assert.equal(state.at, 'ended')
    this.state = `ended${state.wasIdle ? ', idle' : ''}: ${state.reason.error.message}`
  }

  onPing(): void {}

  onHandlerError(error: unknown): void {
    throw error
  }
}

function start(options: ClientOptions = {}): {
  transport: MemoryTransport
  owner: Owner
  connection: Http1Connection
  take(options?: Partial<DispatchOptions>, interfere?: Interference): RecordingHandler
} {
  const transport = new MemoryTransport()
  const owner = new Owner()
  const settings = { ...readClientOptions(options), authority: 'a.test' }
  owner.pipelining = settings.pipelining
  const times = { connect: 1, secured: null }
  const connection = new Http1Connection(transport, owner, settings, times, new HeadParsers(settings))
  const take = (given: Partial<DispatchOptions> = {}, interfere?: Interference): RecordingHandler => {
    const handler = new RecordingHandler(interfere)
    const request = queued(handler, given)
    assert.equal(connection.offer(request), true)
    return handler
  }
  return { transport, owner, connection, take }
}

describe('Http1Connection', () => {
  test('the end comes while the consumer pauses: delivered on resume, then the connection closes', () => {
    const { transport, owner, take } = start()
    const handler = take({}, (method, { controller }) => {
      if (method === 'onResponseStart') controller!.pause()
    })
    transport.say(OK)
    assert.equal(transport.reading, false)
    transport.sink!.onEof()
    assert.deepEqual([handler.body, transport.destroyedWith], ['', undefined])
    handler.controller!.resume()
    assert.deepEqual([handler.body, handler.calls.at(-1)], ['ok', 'onResponseEnd'])
    assert.equal(transport.destroyedWith?.message, 'other side closed')
    transport.sink!.onTransportClosed(null)
    assert.equal(owner.state, 'ended, idle: other side closed')
    assert.deepEqual(owner.returned, [])
  })

  test('bytes that arrive while the consumer pauses wait their turn', () => {
    const { transport, take } = start()
    const handler = take({}, (method, { controller }) => {
      if (method === 'onResponseData') controller!.pause()
    })
    transport.say('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nab')
    transport.say('cd')
    transport.say('ef')
    assert.equal(handler.body, 'ab')
    handler.controller!.resume()
    assert.equal(handler.body, 'abcdef')
    assert.equal(transport.reading, false)
    handler.controller!.resume()
    assert.equal(handler.calls.at(-1), 'onResponseEnd')
    assert.equal(transport.reading, true)
  })

  test('resume inside the callback that paused goes on by itself', () => {
    const { transport, take } = start()
    const handler = take({}, (method, { controller }) => {
      if (method !== 'onResponseStart') return
      controller!.pause()
      controller!.resume()
    })
    transport.say(OK)
    assert.equal(handler.body, 'ok')
    assert.equal(transport.reading, true)
  })

  test('is referenced while something runs, and not when it rests', async () => {
    const { transport, connection, take } = start()
    connection.becomeIdle()
    await turns(2)
    assert.equal(transport.referenced, false)
    connection.offer(queued())
    await turns(2)
    take()
    assert.equal(transport.referenced, true)
    transport.say(OK)
    connection.becomeIdle()
    await turns(2)
    assert.equal(transport.referenced, false)
    connection.destroy(endReason('destroyed', new Error('over')))
    connection.becomeIdle()
  })

  test('a request in the turn in which it becomes idle waits for a poll that begins after that', async () => {
    const { connection } = start()
    await turns(1)
    connection.becomeIdle()
    assert.equal(connection.offer(queued()), false)
    await turns(1)
    assert.equal(connection.offer(queued()), false)
    await turns(1)
    assert.equal(connection.offer(queued()), true)
  })

  test('does not rest between requests that follow each other', async () => {
    const { transport, owner, connection } = start()
    const references: boolean[] = []
    transport.setReferenced = (on) => references.push(on)
    let left = 3
    owner.onCapacity = () => {
      if (connection.running > 0 || left === 0 || !connection.offer(queued())) return
      left--
      queueMicrotask(() => {
        transport.say(OK)
        connection.becomeIdle()
      })
    }
    owner.onCapacity()
    await turns(8)
    assert.equal(left, 0)
    assert.deepEqual(references, [false])
  })

  test('a connection that is closing takes nothing', () => {
    const { connection, transport } = start()
    connection.destroy(endReason('server-name', new Error('going')))
    const handler = new RecordingHandler()
    assert.equal(connection.offer(queued(handler)), false)
    assert.deepEqual(handler.calls, [])
    assert.equal(transport.written, '')
  })

  test('a request whose handler closes the connection fails with it', () => {
    const { connection, transport } = start()
    const handler = new RecordingHandler((method) => {
      if (method === 'onRequestStart') connection.destroy(endReason('destroyed', new Error('over')))
    })
    assert.equal(connection.offer(queued(handler)), true)
    assert.equal(handler.error?.message, 'over')
    assert.equal(transport.written, '')
  })

  test('bytes, ends and resets after the close are not heard', () => {
    const { transport, owner, connection, take } = start()
    const handler = take()
    connection.destroy(callersReason('destroyed', new Error('over')))
    transport.say(OK)
    transport.sink!.onEof()
    assert.deepEqual(handler.statuses, [])
    transport.sink!.onTransportClosed(connectionReset())
    assert.equal(handler.error?.message, 'over')
    assert.equal(owner.state, 'ended: over')
  })

  test('typeOfService is passed on', () => {
    const { transport, take } = start()
    take({ typeOfService: 16 })
    assert.deepEqual(transport.typesOfService, [16])
  })

  test('only the first request on it tells when it was opened', () => {
    const { transport, take } = start({ pipelining: 2 })
    const first = take({ blocking: false })
    const second = take({ blocking: false })
    transport.say(response('1'), response('2'))
    assert.deepEqual([first.controller!.timings?.connect, second.controller!.timings?.connect], [1, null])
  })

  test('a response that comes while the request is being written', () => {
    for (const options of [{}, { method: 'POST', body: 'x' }, { method: 'POST', body: Buffer.from('x') }]) {
      const { transport, take } = start()
      const { writeNow, writeAllNow } = transport
      transport.writeNow = (data) => {
        writeNow.call(transport, data)
        transport.say(response('at once'))
      }
      transport.writeAllNow = (pieces) => {
        writeAllNow.call(transport, pieces)
        transport.say(response('at once'))
      }
      const handler = take(options)
      assert.equal(handler.body, 'at once')
      assert.equal(handler.calls.at(-1), 'onResponseEnd')
      assert.equal(transport.destroyedWith, undefined)
    }
  })

  test('a transport that closes without a word', () => {
    const { transport, owner, take } = start()
    const handler = take()
    transport.sink!.onTransportClosed(null)
    assert.match(handler.error?.message ?? '', /^closed/)
    assert.equal(owner.state, 'ended: closed')
  })

  test('a server that answers before it has the whole body: the rest is not sent, the connection not reused', async () => {
    const { transport, take } = start()
    let returned = false
    const handler = take({
      method: 'POST',
      body: (async function* () {
        try {
          for (;;) {
            yield 'x'.repeat(10)
            await turns(1)
          }
        } finally {
          returned = true
        }
      })(),
    })
    await turns(3)
    transport.say(response('too much'))
    assert.equal(handler.body, 'too much')
    assert.equal(transport.destroyedWith?.message, 'reset')
    const { length } = transport.written
    await turns(3)
    assert.equal(transport.written.length, length)
    assert.equal(returned, true)
  })
})
