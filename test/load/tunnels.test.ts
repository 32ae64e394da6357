/** `scripts/tunnels.ts`, smaller: tunnels that were opened and closed are collected. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { startTunnelPeer } from './tunnel-peer.ts'
import { Tunnels } from './tunnels.ts'
import { handles, handlesBackTo, memory, until } from './watch.ts'

const COUNT = 300

/** Of the last ones the runtime still knows some. */
const KNOWN_TO_RUNTIME = 30

for (const wire of ['h1', 'h2'] as const) {
  test(`${COUNT} tunnels through a proxy over ${wire} leave nothing behind`, async () => {
    const before = handles()
    const sockets: WeakRef<object>[] = []
    const onConnected = (message: unknown): void => {
      sockets.push(new WeakRef((message as { socket: object }).socket))
    }
    subscribe('undici:proxy:connected', onConnected)
    const peer = await startTunnelPeer(wire)
    const tunnels = new Tunnels(peer)
    try {
      await tunnels.open(COUNT)
      assert.equal(sockets.length, COUNT)
      const { connected } = tunnels.agent.stats.proxy
      assert.ok(connected <= (wire === 'h1' ? 0 : 1), `${connected} connections to the proxy are left`)
      await until(async () => {
        await memory()
        return sockets.filter((socket) => socket.deref() !== undefined).length <= KNOWN_TO_RUNTIME
      })
    } finally {
      unsubscribe('undici:proxy:connected', onConnected)
      await tunnels.close()
      await peer.stop()
    }
    await handlesBackTo(before)
  })
}
