// A proxy for CONNECT that is not the limit of what is measured: tinyproxy, in a separate process on the server's core.
// Without it the side servers have one, which costs more time per request than the clients do.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onServerCore } from './cores.mjs'
import { freePort, reachable } from './nginx.mjs'
import { programPath } from './prepare.mjs'

/** Connections at a time: more than any scenario opens, also while those of the run before are closing. */
const MOST_CLIENTS = 500

/** Resolves to the port of the wire, and a function that stops the proxy; without the program to no port. */
export async function startConnectProxy() {
  const program = programPath('tinyproxy')
  if (program === null) return { ports: {}, stop: () => {} }
  const folder = mkdtempSync(join(tmpdir(), 'ventuno-bench-'))
  const file = join(folder, 'tinyproxy.conf')
  const port = await freePort()
  const lines = [
    `Port ${port}`,
    'Listen 127.0.0.1',
    'Allow 127.0.0.1',
    `MaxClients ${MOST_CLIENTS}`,
    'Timeout 600',
    'LogLevel Critical',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const [command, ...args] = onServerCore([program, '-d', '-c', file])
  const child = spawn(command, args, { stdio: 'ignore' })
  const stop = () => {
    child.kill('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await reachable(port, 'tinyproxy')
  } catch (error) {
    stop()
    throw error
  }
  return { ports: { 'connect-proxy': port }, stop }
}
