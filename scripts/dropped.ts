// Large responses of fetch that their callers drop without reading them: `npm run test:dropped -- --fetches 100000`,
// divided among the wires. Once collected, each must give up its exchange: in the end no socket and no memory may be left.
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { inspect, parseArgs } from 'node:util'
import { Agent, fetch } from '../src/index.ts'
import { handles, memory, until } from '../test/load/watch.ts'
import { authority } from '../test/support/certificates.ts'
import { createServer, type Listener, WIRES, type Wire } from '../test/support/wire.ts'

const { values } = parseArgs({ options: { fetches: { type: 'string', default: '100000' } } })

/** Much more than is held for a caller who does not read. */
const LARGE = Buffer.alloc(1024 * 1024, 'x')
/** Fetches under way at a time, and in a round. */
const LANES = 20
const ROUND = 500
/**
 * Milliseconds between collections. A program that does nothing else makes no garbage, and over HTTP/2 dropped responses
 * hold streams until they are collected.
 */
const COLLECT_EVERY = 300
/**
 * Megabytes of unsent responses that the server keeps for a connection before it refuses streams. It goes on counting those
 * of streams that were reset, so this is more than all of them together.
 */
const UNSENT = 1_000_000
/** Compiled code and caches stay; growth up to this size is not a leak. */
const SLACK = 16 * 1024 * 1024

const problems: string[] = []
/** Open ones, those of the clients. */
const sockets = new Set<Socket>()
subscribe('undici:client:connected', (message) => follow((message as { socket: Socket }).socket, sockets))
process.on('uncaughtException', (error) => problems.push(`uncaught: ${error.stack}`))
process.on('unhandledRejection', (error) => problems.push(`unhandled: ${error}`))

for (const wire of WIRES) {
  const started = performance.now()
  const report = await drop(wire, Math.ceil(Number(values.fetches) / WIRES.length))
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  console.log(`${wire.name}: ${report}, ${seconds} s`)
}
for (const problem of problems.slice(0, 20)) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

async function drop(wire: Wire, fetches: number): Promise<string> {
  const before = handles().length
  let open = 0
  const listener: Listener = (_request, response) => {
    open++
    response.on('close', () => open--)
    response.end(LARGE)
  }
  const server = createServer(wire, listener, { maxSessionMemory: UNSENT })
  const accepted = new Set<Socket>()
  server.on('connection', (socket) => follow(socket, accepted))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const url = `${wire.secure ? 'https' : 'http'}://127.0.0.1:${port}/`
  const dispatcher = new Agent({ connect: { ca: authority }, useH2c: wire.name === 'h2c' })
  let most = 0
  let level = 0
  const timer = setInterval(() => void memory(), COLLECT_EVERY)
  let done = 0
  try {
    for (; done < fetches; done += ROUND) {
      const lanes = await Promise.allSettled(Array.from({ length: LANES }, () => lane(ROUND / LANES)))
      const failed = lanes.find((outcome) => outcome.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      most = Math.max(most, open)
      const bytes = await memory()
      if (done === ROUND) level = bytes
    }
  } catch (error) {
    problems.push(`${wire.name}: ${inspect(error)}`)
  }
  async function lane(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const response = await fetch(url, { dispatcher })
      if (response.status !== 200) throw new Error(`status ${response.status}`)
    }
  }
  clearInterval(timer)
  await settled(`${wire.name}: the server has exchanges left`, () => open === 0)
  const growth = (await memory()) - level
  if (growth > SLACK) problems.push(`${wire.name}: memory has grown by ${megabytes(growth)}`)
  // Nothing runs any more, so this waits for nothing.
  await dispatcher.close()
  await settled(`${wire.name}: sockets are left`, () => sockets.size === 0)
  server.close()
  // The HTTP/2 server of Node 20 may have stopped reading from a connection, and does not notice its end.
  for (const socket of accepted) socket.destroy()
  await settled(`${wire.name}: handles are left`, () => handles().length <= before)
  return `${done} dropped, at most ${most} open after a round, memory ${megabytes(growth)} above that after two`
}

function follow(socket: Socket, open: Set<Socket>): void {
  open.add(socket)
  socket.once('close', () => open.delete(socket))
}

async function settled(problem: string, holds: () => boolean): Promise<void> {
  const collected = async (): Promise<boolean> => {
    await memory()
    return holds()
  }
  await until(collected).catch(() => problems.push(problem))
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
