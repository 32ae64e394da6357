// Large transfers through WebSockets with their memory use: `npm run test:websocket-transfer`. The server is a
// separate process, so the memory shown is the client's. GIGABYTES=n changes the size.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { Client } from '../src/index.ts'
import { WebSocket } from '../src/websocket/websocket.ts'

const BYTES = Math.round(Number(process.env['GIGABYTES'] ?? 1) * 2 ** 30)
const PIECE = Buffer.alloc(64 * 1024, 'v')
const PIECES = Math.ceil(BYTES / PIECE.length)

/** Bytes that may be in flight before the sender waits. */
const HIGH_WATER = 4 * 2 ** 20

/** Maximum growth over the initial memory of the process. */
const ALLOWED_GROWTH = 200 * 2 ** 20

if (process.argv[2] === 'server') await runServer()
else await run()

async function runServer(): Promise<void> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: { threshold: 1024 } })
  await once(server, 'listening')
  server.on('connection', (socket, request) => {
    if (request.url === '/upload') {
      let received = 0
      socket.on('message', (data: Buffer) => {
        received += data.length
        if (received === PIECES * PIECE.length) socket.send(String(received))
      })
      return
    }
    const fragments = request.url === '/fragments'
    let left = PIECES
    const send = (): void => {
      if (left === 0) {
        socket.close(1000)
        return
      }
      left--
      // A fragmented message ends after every sixteenth piece.
      const fin = !fragments || left % 16 === 0
      socket.send(PIECE, { binary: true, fin, compress: request.url === '/compressed' }, () => send())
    }
    send()
  })
  process.send!((server.address() as AddressInfo).port)
}

async function run(): Promise<void> {
  const server = fork(new URL(import.meta.url), ['server'])
  try {
    const [port] = (await once(server, 'message')) as [number]
    for (const path of ['/download', '/fragments', '/compressed'])
      await measure(path, () => download(port, path))
    await measure('/upload', () => upload(port))
  } finally {
    server.kill()
  }
}

async function download(port: number, path: string): Promise<void> {
  const client = new Client(`http://127.0.0.1:${port}`)
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { dispatcher: client })
  socket.binaryType = 'arraybuffer'
  let bytes = 0
  socket.onmessage = ({ data }) => {
    bytes += (data as ArrayBuffer).byteLength
  }
  await new Promise((resolve) => socket.addEventListener('close', resolve))
  if (bytes !== PIECES * PIECE.length) throw new Error(`received ${bytes} bytes`)
  await client.close()
}

async function upload(port: number): Promise<void> {
  const client = new Client(`http://127.0.0.1:${port}`)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/upload`, { dispatcher: client })
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  const answer = new Promise<string>((resolve) => {
    socket.onmessage = ({ data }) => resolve(data as string)
  })
  for (let i = 0; i < PIECES; i++) {
    socket.send(PIECE)
    while (socket.bufferedAmount > HIGH_WATER) await new Promise((resolve) => setImmediate(resolve))
  }
  const received = Number(await answer)
  if (received !== PIECES * PIECE.length) throw new Error(`the server received ${received} bytes`)
  socket.close()
  await new Promise((resolve) => socket.addEventListener('close', resolve))
  await client.close()
}

async function measure(name: string, work: () => Promise<void>): Promise<void> {
  const before = process.memoryUsage.rss()
  let peak = before
  const sample = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  const start = performance.now()
  await work()
  clearInterval(sample)
  const seconds = (performance.now() - start) / 1000
  const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0)
  console.log(
    `WebSocket ${name}: ${megabytes(BYTES)} MB in ${seconds.toFixed(2)} s, resident memory ` +
      `${megabytes(before)} MB before, ${megabytes(peak)} MB at the most`,
  )
  if (peak - before > ALLOWED_GROWTH) throw new Error('memory is not flat')
}
