// Tunnels opened and closed: `npm run test:tunnels -- [--count 100000] [--wire h1,h2]`. The proxy is a separate process, so
// that memory is the client's. Prints the memory in use after each tenth; fails if it grows, or a tunnel is left.
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { forkTunnelPeer, type TunnelWire } from '../test/load/tunnel-peer.ts'
import { Tunnels } from '../test/load/tunnels.ts'
import { handles, handlesBackTo, memory } from '../test/load/watch.ts'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '100000' }, wire: { type: 'string', default: 'h1,h2' } },
})

/** Before the first look: code is compiled, and caches fill. */
const FIRST = 2000

const PARTS = 10

/** Compiled code and caches stay. With 100,000 tunnels this is 42 bytes for each. */
const SLACK = 4 * 2 ** 20

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)

async function run(wire: TunnelWire, count: number): Promise<void> {
  const handlesBefore = handles()
  const peer = await forkTunnelPeer(wire)
  const tunnels = new Tunnels(peer)
  try {
    await tunnels.open(FIRST)
    const before = await memory()
    console.log(`${wire}: ${mebibytes(before)} MiB in use after ${FIRST} tunnels`)
    let after = before
    const start = performance.now()
    for (let part = 1; part <= PARTS; part++) {
      await tunnels.open(Math.ceil(count / PARTS))
      after = await memory()
      const seconds = ((performance.now() - start) / 1000).toFixed(0)
      console.log(`${wire}: ${mebibytes(after)} MiB after ${tunnels.count - FIRST} more, ${seconds} s`)
    }
    assert.ok(after <= before + SLACK, `${wire}: ${mebibytes(after)} MiB after ${mebibytes(before)}`)
  } finally {
    await tunnels.close()
    await peer.stop()
  }
  await handlesBackTo(handlesBefore)
}

for (const wire of values.wire.split(',')) await run(wire as TunnelWire, Number(values.count))
