/**
 * A port that refuses connections. A port that was just released may belong to another listener the next moment. This
 * one is the near end of a connection, so nothing listens there and the system does not assign it to a listener
 * meanwhile. Nor does it assign it to a socket that connects to the port, which would then be connected to itself: the
 * port is bound (`localAddress`) before the connection is made, and such ports are not shared.
 */
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'

export interface RefusingPort {
  readonly port: number
  release(): void
}

export async function holdRefusingPort(): Promise<RefusingPort> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: farPort } = server.address() as AddressInfo
  const holder = net.connect({ port: farPort, host: '127.0.0.1', localAddress: '127.0.0.1' })
  const [[far]] = (await Promise.all([once(server, 'connection'), once(holder, 'connect')])) as [
    [Socket],
    unknown,
  ]
  server.close()
  const port = holder.localPort!
  return {
    port,
    release: () => {
      for (const socket of [holder, far]) socket.destroy()
    },
  }
}

/** The same until the end of a test. */
export async function refusingPort(t: { after(work: () => void): void }): Promise<number> {
  const { port, release } = await holdRefusingPort()
  t.after(release)
  return port
}
