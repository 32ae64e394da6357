import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as immediate, setTimeout as timer } from 'node:timers/promises'
import { Client } from '../../src/index.ts'
import { startServerThread } from '../support/server-thread.ts'

/**
 * Has a separate thread, so it writes while the client's is blocked. Its second port takes connections that it calls: on
 * demand it writes there first and then, on the first connection for HTTP, what the message says. So both wait in the
 * kernel of the client, in this order.
 */
const SERVER = `
const { createServer } = require('node:net')
const { parentPort, workerData } = require('node:worker_threads')
const flags = new Int32Array(workerData)
const reply = (text) => 'HTTP/1.1 200 OK\\r\\ncontent-length: ' + text.length + '\\r\\n\\r\\n' + text
const sockets = []
let called = null
const server = createServer((socket) => {
  const number = sockets.push(socket)
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', () => socket.write(reply(number === 1 ? 'first' : 'real')))
})
const caller = createServer((socket) => { called = socket.setNoDelay(true) })
const done = () => { Atomics.store(flags, 0, 1); Atomics.notify(flags, 0) }
parentPort.on('message', (what) => {
  called.write('now', () => {
    if (what === 'nothing') return
    if (what === 'end') sockets[0].end(done)
    else if (what === 'reset') { sockets[0].resetAndDestroy(); setImmediate(done) }
    else sockets[0].write(reply('poison'), done)
  })
})
server.listen(0, '127.0.0.1', () => caller.listen(0, '127.0.0.1', () =>
  parentPort.postMessage([server.address().port, caller.address().port])))
`

/** A client with an idle connection, and a function that lets its thread poll two events at once. */
async function start(t: TestContext) {
  const { worker, flags, said } = await startServerThread<[number, number]>(t, SERVER)
  const [port, callerPort] = said
  const call = connect(callerPort, '127.0.0.1')
  t.after(() => call.destroy())
  await once(call, 'connect')
  const client = new Client(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  const send = async (method: string): Promise<string> => {
    const { body } = await client.request({ path: '/', method })
    return body.text()
  }
  assert.equal(await send('GET'), 'first')
  // Longer than the turn in which the response ended.
  for (let i = 0; i < 3; i++) await immediate()
  /** Blocks the thread until it is in the kernel. */
  const arrive = (what: string): void => {
    worker.postMessage(what)
    Atomics.wait(flags, 0, 0)
  }
  /** Calls `onCall` in the event that comes first; the other one concerns the idle connection. */
  const inSamePoll = (what: string, onCall: () => void): void => {
    call.once('data', onCall)
    arrive(what)
  }
  /** Calls it while the loop handles the events of a poll. */
  const inEvent = (onEvent: () => void): void => {
    call.once('data', onEvent)
    worker.postMessage('nothing')
  }
  return { client, send, inSamePoll, arrive, inEvent }
}

describe('a request on an idle connection, in an event of the same poll', () => {
  for (const what of ['poison', 'end', 'reset']) {
    for (const method of ['GET', 'POST']) {
      test(`as ${what} for that connection, ${method}: goes to another one`, async (t) => {
        const { client, send, inSamePoll } = await start(t)
        let disconnects = 0
        client.on('disconnect', () => disconnects++)
        const text = await new Promise<string>((resolve, reject) => {
          inSamePoll(what, () => send(method).then(resolve, reject))
        })
        assert.equal(text, 'real')
        assert.equal(disconnects, 1)
      })
    }
  }
})

describe('a request after the process was busy, in the same turn', () => {
  for (const what of ['poison', 'end', 'reset']) {
    for (const method of ['GET', 'POST']) {
      for (const where of ['a timer', 'an event', 'an immediate']) {
        test(`as ${what} came meanwhile, ${method} from ${where}: goes to another connection`, async (t) => {
          const { client, send, arrive, inEvent } = await start(t)
          let disconnects = 0
          client.on('disconnect', () => disconnects++)
          const now = performance.now()
          const text = await new Promise<string>((resolve, reject) => {
            const onTurn = (): void => {
              arrive(what)
              // A second of work.
              t.mock.method(performance, 'now', () => now + 1000)
              send(method).then(resolve, reject)
            }
            if (where === 'a timer') setTimeout(onTurn)
            else if (where === 'an immediate') setImmediate(onTurn)
            else inEvent(onTurn)
          })
          assert.equal(text, 'real')
          assert.equal(disconnects, 1)
        })
      }
    }
  }

  test('and its idle time is over, but not its timer: goes to another connection', async (t) => {
    const { client, send } = await start(t)
    let disconnects = 0
    client.on('disconnect', () => disconnects++)
    const now = performance.now()
    t.mock.method(performance, 'now', () => now + 10_000)
    assert.equal(await send('GET'), 'real')
    assert.equal(disconnects, 1)
  })
})

describe('a lone request on an idle connection', () => {
  for (const method of ['GET', 'POST']) {
    test(`${method}: is answered there, whatever the turn of the loop`, async (t) => {
      const { client, send } = await start(t)
      let disconnects = 0
      client.on('disconnect', () => disconnects++)
      assert.equal(await send(method), 'first')
      // Timers run after immediates, before the loop polls again.
      await timer()
      assert.equal(await send(method), 'first')
      await immediate()
      assert.equal(await send(method), 'first')
      assert.equal(disconnects, 0)
    })
  }

  test('GET: is written in the turn of the call', async (t) => {
    // The connection was used just now, however slow the machine is.
    const now = performance.now()
    t.mock.method(performance, 'now', () => now)
    const { client } = await start(t)
    const written = new Promise<boolean>((resolve) => {
      let isLater = false
      client.dispatch(
        { path: '/', method: 'GET' },
        {
          onRequestStart: () => resolve(isLater),
          onResponseStart() {},
          onResponseData() {},
          onResponseEnd() {},
          onResponseError() {},
        },
      )
      isLater = true
    })
    assert.equal(await written, false)
  })
})
