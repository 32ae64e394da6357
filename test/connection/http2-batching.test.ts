/** When requests over HTTP/2 leave: a single one immediately, one among many together with others. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { H2CClient } from '../../src/index.ts'
import {
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  HEADERS,
  PING,
  SETTINGS,
} from '../../src/protocol/http2/constants.ts'
import { turns } from '../support/fake-clock.ts'
import { frameBytes, parseFrames } from '../support/frame-peer.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

const PREFACE = 24
const STATUS_200 = Buffer.from([0x88])

interface Setting {
  readonly client: H2CClient
  readonly socket: MemorySocket
  ask(count: number): void
  /** The server answers these streams in one read. */
  answer(...ids: number[]): void
  /** The streams whose HEADERS have been written since the last call. */
  asked(): number[]
}

async function connected(t: TestContext): Promise<Setting> {
  const socket = new MemorySocket()
  const client = new H2CClient('http://localhost', {
    connect: (_target, callback) => {
      setImmediate(callback, null, socket)
      return socket
    },
  })
  t.after(() => client.destroy())
  const ask = (count: number): void => {
    for (let i = 0; i < count; i++) client.dispatch({ path: '/', method: 'GET' }, new RecordingHandler())
  }
  let looked = PREFACE
  const asked = (): number[] => {
    const fresh = Buffer.from(socket.written.slice(looked), 'latin1')
    looked = socket.written.length
    return parseFrames(fresh)
      .filter(({ type }) => type === HEADERS)
      .map(({ streamId }) => streamId)
  }
  const say = (...frames: Buffer[]): void => void socket.say(Buffer.concat(frames).toString('latin1'))
  ask(10)
  await turns(4)
  say(frameBytes(SETTINGS, 0, 0, Buffer.alloc(0)))
  await turns(4)
  assert.deepEqual(asked(), [1, 3, 5, 7, 9, 11, 13, 15, 17, 19])
  return {
    client,
    socket,
    ask,
    asked,
    answer: (...ids) =>
      say(...ids.map((id) => frameBytes(HEADERS, FLAG_END_HEADERS | FLAG_END_STREAM, id, STATUS_200))),
  }
}

describe('requests over HTTP/2', () => {
  test('leave in the same turn when the server has nothing else to do', async (t) => {
    const { ask, asked, answer } = await connected(t)
    answer(1, 3, 5, 7, 9, 11, 13, 15, 17, 19)
    await turns(1)
    ask(1)
    await turns(1)
    assert.deepEqual(asked(), [21])
  })

  test('few among many wait for a turn in which nothing is read', async (t) => {
    const { ask, asked, answer } = await connected(t)
    answer(1)
    ask(1)
    await turns(1)
    assert.deepEqual(asked(), [])
    await turns(2)
    assert.deepEqual(asked(), [21])
  })

  test('leave together when they are half of what runs', async (t) => {
    const { ask, asked, answer } = await connected(t)
    answer(1, 3, 5, 7, 9)
    ask(5)
    await turns(1)
    assert.deepEqual(asked(), [21, 23, 25, 27, 29])
  })

  test('leave in the turn in which callers get the responses that they send them for', async (t) => {
    const { client, ask, asked, answer } = await connected(t)
    answer(1, 3, 5, 7, 9, 11, 13, 15, 17, 19)
    const get = () => client.request({ path: '/', method: 'GET' })
    const chains = Array.from({ length: 10 }, async () => {
      await get()
      return get()
    })
    await turns(4)
    assert.deepEqual(asked(), [21, 23, 25, 27, 29, 31, 33, 35, 37, 39])
    // Output is due before the callers go on.
    ask(1)
    answer(21, 23, 25, 27, 29, 31, 33, 35, 37, 39)
    await turns(1)
    assert.deepEqual(asked(), [41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61])
    answer(41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61)
    await Promise.all(chains)
  })

  test('do not wait for ever while something is read in each turn', async (t) => {
    const { socket, ask, asked } = await connected(t)
    ask(1)
    let turnsTaken = 0
    const seen: number[] = []
    while (seen.length === 0) {
      assert.ok(turnsTaken++ < 20)
      socket.say(frameBytes(PING, 0, 0, Buffer.alloc(8)).toString('latin1'))
      await turns(1)
      seen.push(...asked())
    }
    assert.deepEqual(seen, [21])
  })
})

test('requests leave under a fake clock, and after it', async (t) => {
  const { ask, asked } = await connected(t)
  const { setImmediate } = globalThis
  globalThis.setImmediate = (() => ({})) as unknown as typeof setImmediate
  t.after(() => {
    globalThis.setImmediate = setImmediate
  })
  const seen: number[] = []
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  ask(1)
  for (let i = 0; i < 20 && seen.length === 0; i++) {
    await turn()
    seen.push(...asked())
  }
  globalThis.setImmediate = setImmediate
  ask(1)
  await turns(6)
  assert.deepEqual([...seen, ...asked()], [21, 23])
})
