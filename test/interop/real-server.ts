/**
 * Programs that others wrote, started for one test file: each on a free port of the loopback address, with a
 * folder and a configuration of its own, and ended by its process id.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { authority } from '../support/certificates.ts'

export const KEY_FILE: string = fileURLToPath(new URL('../support/certs/localhost-key.pem', import.meta.url))
export const CERT_FILE: string = fileURLToPath(new URL('../support/certs/localhost.pem', import.meta.url))

/** Makes a client trust the certificate above. */
export const TRUST: { readonly ca: string } = { ca: authority }

/** The file of a program, or null when it is not installed. */
export function findProgram(name: string): string | null {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']) {
    const file = join(folder, name)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // Not here.
    }
  }
  return null
}

/** A file of this many bytes that are not all the same. */
export function writeContent(file: string, size: number): Buffer {
  const content = pattern(size)
  writeFileSync(file, content)
  return content
}

export function pattern(size: number): Buffer {
  const content = Buffer.alloc(size)
  for (let at = 0; at < size; at += 4)
    content.writeUInt32LE((at * 2_654_435_761) >>> 0, Math.min(at, size - 4))
  return content
}

/** Another program may take it before ours does, but that is rare enough. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** What one group of tests has started. */
export class Stage {
  readonly #folders: string[] = []
  readonly #ends: (() => Promise<unknown>)[] = []

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'interop-'))
    this.#folders.push(folder)
    return folder
  }

  /** Something to be ended with the rest. */
  onEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end)
  }

  /** Starts a program and waits until it accepts connections on all these ports. */
  async start(file: string, args: readonly string[], ports: readonly number[]): Promise<ChildProcess> {
    let log = ''
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    const ended = once(child, 'exit')
    this.onEnd(() => {
      child.kill('SIGTERM')
      return ended
    })
    for (const port of ports) {
      while (!(await accepts(port))) {
        if (child.exitCode !== null) throw new Error(`${file} ended by itself: ${log}`)
      }
    }
    return child
  }

  async end(): Promise<void> {
    // Clients before the servers that they talk to.
    for (const end of this.#ends.reverse()) await end()
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true })
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
