/** A Redis server of the test's own, and a small client with the interface of the `redis` package. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Why the tests that need it are skipped; false if it is there. */
export const noRedis: string | false = (() => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return false
  } catch {
    return 'there is no redis-server'
  }
})()

export interface RedisServer {
  readonly port: number
  readonly process: ChildProcess
  stop(): Promise<void>
}

export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'))
  const port = await freePort()
  const args = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ]
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  for await (const line of child.stdout.setEncoding('utf8')) if (line.includes('eady to accept')) break
  return {
    port,
    process: child,
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

type Reply = string | number | null | Error | Reply[]

/** Connects again when a command finds no connection. Commands of a connection that is lost fail. */
export class TestRedisClient {
  readonly #port: number
  #socket: net.Socket | null = null
  #waiting: ((reply: Reply) => void)[] = []
  #received = Buffer.alloc(0)
  commands = 0

  constructor(port: number) {
    this.#port = port
  }

  sendCommand(args: readonly string[]): Promise<unknown> {
    this.commands++
    const socket = this.#connected()
    const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`)
    return new Promise((resolve, reject) => {
      this.#waiting.push((reply) => (reply instanceof Error ? reject(reply) : resolve(reply)))
      socket.write(`*${args.length}\r\n${parts.join('')}`)
    })
  }

  #connected(): net.Socket {
    if (this.#socket !== null) return this.#socket
    const socket = net.connect(this.#port, '127.0.0.1').setNoDelay()
    socket.on('data', (chunk) => this.#onData(chunk))
    socket.on('error', () => {})
    socket.on('close', () => this.#onClose(socket))
    this.#socket = socket
    return socket
  }

  #onClose(socket: net.Socket): void {
    if (this.#socket !== socket) return
    this.#socket = null
    this.#received = Buffer.alloc(0)
    for (const settle of this.#waiting.splice(0)) settle(new Error('the connection is lost'))
  }

  #onData(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    for (let read = readReply(this.#received, 0); read !== null; read = readReply(this.#received, 0)) {
      this.#received = this.#received.subarray(read.end)
      this.#waiting.shift()!(read.reply)
    }
  }

  close(): void {
    this.#socket?.destroy()
  }
}

/** Null if it is not complete. */
function readReply(bytes: Buffer, from: number): { reply: Reply; end: number } | null {
  const line = bytes.indexOf('\r\n', from)
  if (line === -1) return null
  const text = bytes.toString('utf8', from + 1, line)
  let end = line + 2
  switch (String.fromCharCode(bytes[from]!)) {
    case ':':
      return { reply: Number(text), end }
    case '+':
      return { reply: text, end }
    case '-':
      return { reply: new Error(text), end }
    case '$': {
      const length = Number(text)
      if (length === -1) return { reply: null, end }
      if (bytes.length < end + length + 2) return null
      return { reply: bytes.toString('utf8', end, end + length), end: end + length + 2 }
    }
    default: {
      const replies: Reply[] = []
      for (let i = 0; i < Number(text); i++) {
        const read = readReply(bytes, end)
        if (read === null) return null
        replies.push(read.reply)
        end = read.end
      }
      return { reply: replies, end }
    }
  }
}
