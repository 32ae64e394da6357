/**
 * A port that refuses connections. One that was just given back may belong to another listener the next moment; this
 * one is the near end of a connection, so that nobody listens there and the system gives it to no listener meanwhile.
 * Nor to the one who connects to it, which would then be connected to itself: it is bound (`localAddress`) before the
 * connection is made, and such ports are not shared.
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
