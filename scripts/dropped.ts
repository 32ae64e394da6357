// Large responses of fetch that their callers drop without reading them: `npm run test:dropped -- --fetches 100000`,
// divided among the wires. Once collected, each must give up its exchange: in the end no socket and no memory may be left.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { Agent, fetch } from '../src/index.ts'
import { handles, memory, until } from '../test/load/watch.ts'
import { authority } from '../test/support/certificates.ts'
import { createServer, WIRES, type Wire } from '../test/support/wire.ts'

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
/** Compiled code and caches stay; growth up to this size is not a leak. */
const SLACK = 16 * 1024 * 1024

const problems: string[] = []
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
  const server = createServer(wire, (_request, response) => {
    open++
    response.on('close', () => open--)
    response.end(LARGE)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const url = `${wire.secure ? 'https' : 'http'}://127.0.0.1:${port}/`
  const dispatcher = new Agent({ connect: { ca: authority }, useH2c: wire.name === 'h2c' })
  let most = 0
  let level = 0
  const timer = setInterval(() => void memory(), COLLECT_EVERY)
  for (let done = 0; done < fetches; done += ROUND) {
    await Promise.all(Array.from({ length: LANES }, () => lane(ROUND / LANES)))
    most = Math.max(most, open)
    const bytes = await memory()
    if (done === ROUND) level = bytes
  }
  async function lane(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const response = await fetch(url, { dispatcher })
      if (response.status !== 200) problems.push(`${wire.name}: status ${response.status}`)
    }
  }
  clearInterval(timer)
  await settled(`${wire.name}: the server has exchanges left`, () => open === 0)
  const growth = (await memory()) - level
  if (growth > SLACK) problems.push(`${wire.name}: memory has grown by ${megabytes(growth)}`)
  // Nothing runs any more, so this waits for nothing.
  await dispatcher.close()
  server.close()
  await settled(`${wire.name}: handles are left`, () => handles().length <= before)
  return `${fetches} dropped, at most ${most} open after a round, memory ${megabytes(growth)} above that after two`
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
