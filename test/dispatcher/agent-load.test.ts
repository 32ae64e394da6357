/** An agent under many requests and many origins: nothing is opened that is not needed, and nothing is left. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent } from '../../src/dispatcher/agent.ts'
import { fetch } from '../../src/fetch/fetch.ts'
import { authority } from '../support/certificates.ts'
import { turns } from '../support/fake-clock.ts'
import { UNLESS_INSTRUMENTED } from '../support/instrumented.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { OK } from '../support/scripted-client.ts'
import { startOrigin } from '../support/wire.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function heap(): Promise<number> {
  await turns(4)
  collect()
  await turns(4)
  collect()
  return process.memoryUsage().heapUsed
}

/** A leaked pool would take about fifteen kilobytes; coverage and the compiler also need some memory. */
const KEPT_EACH = 2000

class Answering extends MemorySocket {
  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    super._write(chunk, encoding, done)
    queueMicrotask(() => this.say(OK.replace('\r\n', '\r\nconnection: close\r\n')))
  }
}

test('many origins, one after another, leave no growth', UNLESS_INSTRUMENTED, async (t) => {
  const agent = new Agent({
    connect: (_target, callback) => {
      const socket = new Answering()
      queueMicrotask(() => callback(null, socket))
    },
  })
  t.after(() => agent.destroy())
  const visit = async (from: number, count: number): Promise<void> => {
    for (let i = from; i < from + count; i++) {
      const { body } = await agent.request({ origin: `http://o${i}.test`, path: '/', method: 'GET' })
      await body.dump()
    }
    await turns(4)
  }
  await visit(0, 1000)
  const before = await heap()
  await visit(1000, 4000)
  assert.deepEqual(agent.stats, {})
  const grown = (await heap()) - before
  assert.ok(grown < 4000 * KEPT_EACH, `${grown} bytes more after 4,000 origins`)
})

test('many origins that cannot be reached leave no growth', UNLESS_INSTRUMENTED, async (t) => {
  const agent = new Agent({ connect: (_target, callback) => void callback(new Error('unreachable')) })
  t.after(() => agent.destroy())
  const visit = async (from: number, count: number): Promise<void> => {
    for (let i = from; i < from + count; i++) {
      await agent.request({ origin: `http://o${i}.test`, path: '/', method: 'GET' }).catch(() => {})
    }
  }
  await visit(0, 1000)
  const before = await heap()
  await visit(1000, 4000)
  assert.deepEqual(agent.stats, {})
  const grown = (await heap()) - before
  assert.ok(grown < 4000 * KEPT_EACH, `${grown} bytes more after 4,000 origins`)
})

test(
  '2,000 fetches at once to one HTTP/2 origin: few connections, no warnings, memory back',
  UNLESS_INSTRUMENTED,
  async (t) => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => {
      if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning)
    }
    process.on('warning', onWarning)
    t.after(() => process.off('warning', onWarning))
    const wire = { name: 'h2+tls', secure: true, multiplexes: true } as const
    const origin = await startOrigin(t, wire, (_request, response) => response.end('ok'))
    const agent = new Agent({ connect: { ca: authority }, connections: 4 })
    t.after(() => agent.destroy())
    const round = async (): Promise<void> => {
      const answers = Array.from({ length: 2000 }, async () =>
        (await fetch(origin.url, { dispatcher: agent })).text(),
      )
      assert.deepEqual(new Set(await Promise.all(answers)), new Set(['ok']))
    }
    await round()
    const before = await heap()
    await round()
    assert.ok(origin.sockets.length <= 4, `${origin.sockets.length} connections`)
    const grown = (await heap()) - before
    assert.ok(grown < 2000 * 1000, `${grown} bytes more`)
    assert.deepEqual(warnings, [])
  },
)
