/** Servers of a script that generates its traffic within its own process, and its final report. */
import diagnostics from 'node:diagnostics_channel'
import type { AddressInfo, Server, Socket } from 'node:net'
import { holdRefusingPort, type RefusingPort } from '../support/refusing-port.ts'
import { CHANNELS } from './channel-names.ts'

const servers: Server[] = []
const refusing: RefusingPort[] = []
const sockets = new Set<Socket>()
const ports: Record<string, number> = {}

/** Listens on a free port, which the report lists under this name. */
export async function listen(name: string, server: Server): Promise<number> {
  servers.push(server)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  ports[name] = port
  return port
}

/** A port without a listener until the report: otherwise the test could not distinguish the two names. */
export async function closedPort(name: string): Promise<number> {
  const held = await holdRefusingPort()
  refusing.push(held)
  ports[name] = held.port
  return held.port
}

/** Plays the scenes named in the arguments, each announced on standard error by a line `# name`. */
export async function play(scenes: Readonly<Record<string, () => Promise<void>>>): Promise<void> {
  for (const name of process.argv.slice(2)) {
    process.stderr.write(`# ${name}\n`)
    await scenes[name]!()
  }
  const heard = CHANNELS.filter((name) => diagnostics.channel(name).hasSubscribers)
  process.stdout.write(JSON.stringify({ pid: process.pid, ports, heard }))
  for (const server of servers) server.close()
  for (const socket of sockets) socket.destroy()
  for (const held of refusing) held.release()
}
