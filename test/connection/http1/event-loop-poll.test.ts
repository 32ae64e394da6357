import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { afterPoll } from '../../../src/connection/http1/event-loop-poll.ts'

function onBroken(error: Error): void {
  throw error
}

/** Resolves when the loop has polled, for tests with an unusual order. */
function polled(): Promise<void> {
  return new Promise((resolve) => afterPoll({ onPolled: () => resolve(), onBroken }))
}

describe('waiting for the next poll', () => {
  test('from within a poll is longer than an immediate and lets what the kernel holds come first', async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const socket = connect(port, '127.0.0.1')
    const [peer] = await once(server, 'connection')
    t.after(() => socket.destroy())
    const order: string[] = []
    await new Promise<void>((resolve) => {
      socket.once('data', () => {
        // The second piece is in the kernel before anything else happens here.
        peer.write('second')
        socket.once('data', (bytes) => order.push(String(bytes)))
        afterPoll({
          onPolled() {
            order.push('polled')
            resolve()
          },
          onBroken,
        })
        setImmediate(() => order.push('immediate'))
      })
      peer.write('first')
    })
    assert.deepEqual(order, ['immediate', 'second', 'polled'])
  })

  test('is the same for all who wait in a turn', async () => {
    const waiter = { onPolled: () => {}, onBroken }
    const first = afterPoll(waiter)
    assert.deepEqual([afterPoll(waiter), afterPoll(waiter)], [first, first])
    await polled()
    assert.equal(afterPoll(waiter), first + 1)
  })

  test('is told once to who says that it waits for that one already, and again for a later one', async () => {
    const told: number[] = []
    const waiter = { onPolled: (poll: number) => told.push(poll), onBroken }
    const first = afterPoll(waiter)
    assert.equal(afterPoll(waiter, first), first)
    // The first of the two immediates: a request from now on needs another poll.
    await new Promise((resolve) => setImmediate(resolve))
    const second = afterPoll(waiter, first)
    assert.equal(second, first + 1)
    await polled()
    assert.deepEqual(told, [first, second])
  })

  test('ends for all, whatever one of them throws', async () => {
    const told: string[] = []
    for (const name of ['a', 'b', 'c']) {
      afterPoll({
        onPolled() {
          told.push(name)
          if (name === 'b') throw new Error('from a waiter')
        },
        onBroken: ({ message }) => told.push(`${name} threw ${message}`),
      })
    }
    await polled()
    assert.deepEqual(told, ['a', 'b', 'b threw from a waiter', 'c'])
  })

  test('ends under a fake clock', async (t) => {
    t.mock.method(globalThis, 'setImmediate', () => {})
    await polled()
  })
})
