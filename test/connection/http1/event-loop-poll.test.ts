import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { afterTurn, type LoopWaiter, pollCount } from '../../../src/connection/http1/event-loop-poll.ts'

function onBroken(error: Error): void {
  throw error
}

/** A waiter that ignores what the test does not speak of. */
function waiterWith(calls: Partial<LoopWaiter>): LoopWaiter {
  return { onPolled() {}, onTurnEnd: () => false, onBroken, ...calls }
}

/** One that waits for a poll. */
function pollWaiterWith(calls: Partial<LoopWaiter>): LoopWaiter {
  return waiterWith({ onTurnEnd: () => true, ...calls })
}

/** Two ends of a connection. */
async function pair(t: TestContext): Promise<{ socket: Socket; peer: Socket }> {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  const [[peer]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')])
  t.after(() => socket.destroy())
  return { socket, peer }
}

/** Resolves when the loop has polled, for tests with an unusual order. */
function polled(): Promise<void> {
  return new Promise((resolve) => afterTurn(pollWaiterWith({ onPolled: () => resolve() })))
}

describe('waiting for the next poll', () => {
  test('from within a poll is longer than an immediate and lets what the kernel holds come first', async (t) => {
    const { socket, peer } = await pair(t)
    const order: string[] = []
    await new Promise<void>((resolve) => {
      socket.once('data', () => {
        // The second piece is in the kernel before anything else happens here.
        peer.write('second')
        socket.once('data', (bytes) => order.push(String(bytes)))
        afterTurn(
          pollWaiterWith({
            onPolled() {
              order.push('polled')
              resolve()
            },
          }),
        )
        setImmediate(() => order.push('immediate'))
      })
      peer.write('first')
    })
    assert.deepEqual(order, ['immediate', 'second', 'polled'])
  })

  test('is the same for all who wait in a turn', async () => {
    const waiter = pollWaiterWith({})
    const first = afterTurn(waiter)
    assert.deepEqual([afterTurn(waiter), afterTurn(waiter)], [first, first])
    await polled()
    assert.equal(afterTurn(waiter), first + 1)
  })

  test('is told once to who says that it waits for that one already, and again for a later one', async () => {
    const told: number[] = []
    const waiter = pollWaiterWith({ onPolled: (turn) => void told.push(turn) })
    const first = afterTurn(waiter)
    assert.equal(afterTurn(waiter, first), first)
    // The first of the two immediates: a request from now on needs another poll.
    await new Promise((resolve) => setImmediate(resolve))
    const second = afterTurn(waiter, first)
    assert.equal(second, first + 1)
    await polled()
    assert.deepEqual(told, [first, second])
  })

  test('ends for all, whatever one of them throws', async () => {
    const told: string[] = []
    for (const name of ['a', 'b', 'c']) {
      afterTurn(
        pollWaiterWith({
          onPolled() {
            told.push(name)
            if (name === 'b') throw new Error('from a waiter')
          },
          onBroken: ({ message }) => void told.push(`${name} threw ${message}`),
        }),
      )
    }
    await polled()
    assert.deepEqual(told, ['a', 'b', 'b threw from a waiter', 'c'])
  })

  test('ends under a fake clock', async (t) => {
    t.mock.method(globalThis, 'setImmediate', () => {})
    await polled()
  })
})

/** Resolves at the end of this turn, with its number. */
function turnEnd(): Promise<number> {
  return new Promise((resolve) => {
    afterTurn(
      waiterWith({
        onTurnEnd(turn) {
          resolve(turn)
          return false
        },
      }),
    )
  })
}

describe('waiting for the end of the turn', () => {
  test('is over before the loop polls again', async (t) => {
    const { socket, peer } = await pair(t)
    const order: string[] = []
    await new Promise<void>((resolve) => {
      socket.once('data', () => {
        peer.write('second')
        socket.once('data', () => {
          order.push('second')
          resolve()
        })
        afterTurn(waiterWith({ onTurnEnd: () => order.push('turn') === 0 }))
      })
      peer.write('first')
    })
    assert.deepEqual(order, ['turn', 'second'])
  })

  test('is told once to who says that it waits already, and again in a later turn', async () => {
    const told: number[] = []
    const waiter = waiterWith({ onTurnEnd: (turn) => told.push(turn) === 0 })
    const first = afterTurn(waiter)
    assert.equal(afterTurn(waiter, first), first)
    await turnEnd()
    const second = afterTurn(waiter, first)
    assert.equal(second, first + 1)
    await turnEnd()
    assert.deepEqual(told, [first, second])
  })

  test('ends for all, whatever one of them throws', async () => {
    const told: string[] = []
    const broken = new Error('from a waiter')
    afterTurn(
      waiterWith({
        onTurnEnd() {
          throw broken
        },
        onBroken: (error) => void told.push(error.message),
      }),
    )
    await turnEnd()
    assert.deepEqual(told, ['from a waiter'])
  })
})

describe('the count of polls', () => {
  test('is the same until the end of the turn', async (t) => {
    const { socket, peer } = await pair(t)
    peer.write('x')
    await once(socket, 'data')
    const before = pollCount()
    await turnEnd()
    assert.equal(pollCount(), before)
  })

  test('is the same for all events of one, and higher than before it', async (t) => {
    const pairs = await Promise.all([pair(t), pair(t)])
    await turnEnd()
    const before = pollCount()
    const seen: number[] = []
    const both = pairs.map(({ socket }) => once(socket, 'data').then(() => void seen.push(pollCount())))
    // Both are in the kernel before the loop polls.
    for (const { peer } of pairs) peer.write('x')
    await Promise.all(both)
    assert.equal(seen[0], seen[1])
    assert.ok(seen[0]! > before)
  })
})
