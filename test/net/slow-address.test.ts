import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { LookupFunction } from 'node:net'
import net from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { Client } from '../../src/index.ts'

const DEAD = '127.0.0.2'
const GOOD = '127.0.0.1'

/** A listener whose process accepts nothing: once its backlog is full, the kernel drops what else arrives. */
const LISTENER = `
  const server = require('node:net').createServer()
  server.listen({ host: '${DEAD}', port: Number(process.argv[1]), backlog: 1 }, () => {
    require('node:fs').writeSync(1, 'listening')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`

async function blackHole(t: TestContext, port: number): Promise<void> {
  const child = spawn(process.execPath, ['-e', LISTENER, String(port)])
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  // A client's SYN is answered while there is room, so one more than fits stays unanswered.
  const fillers = Array.from({ length: 8 }, () => net.connect(port, DEAD).on('error', () => {}))
  t.after(() => {
    for (const socket of fillers) socket.destroy()
  })
  await once(fillers[0]!, 'connect')
}

const skip = process.platform === 'linux' ? false : 'other kernels answer when the backlog is full'

test('a black hole before a good address costs a second, not the time limit of the connect', {
  skip,
}, async (t) => {
  const server = createServer((_request, response) => response.end('here'))
  server.listen(0, GOOD)
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as net.AddressInfo
  await blackHole(t, port)

  const lookup: LookupFunction = (_hostname, _options, callback) =>
    callback(null, [
      { address: DEAD, family: 4 },
      { address: GOOD, family: 4 },
    ])
  const client = new Client(`http://name.test:${port}`, { connect: { lookup } })
  t.after(() => client.destroy())
  const opened: net.Socket[] = []
  const { connect } = net
  t.mock.method(net, 'connect', (...args: Parameters<typeof connect>) => {
    opened.push(connect(...args))
    return opened.at(-1)!
  })
  const startedAt = performance.now()
  // The limit of the connect is ten seconds. A busy machine needs more than the second and a few milliseconds.
  const limit = new Promise<null>((resolve) => setTimeout(resolve, 4000, null).unref())
  const response = await Promise.race([client.request({ path: '/', method: 'GET' }), limit])
  assert.ok(response !== null, 'no answer within 4 s')
  assert.equal(await response.body.text(), 'here')
  assert.ok(performance.now() - startedAt >= 990, 'the first address was no black hole')
  assert.deepEqual(
    opened.map((socket) => socket.destroyed),
    [true, false],
    'the attempt that lost is closed',
  )
})
