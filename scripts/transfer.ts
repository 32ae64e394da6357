// Large and numerous transfers with their memory use: `npm run test:transfer`. The origin is a separate process, so
// the memory shown is the client's. GIGABYTES=n changes the size.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { Client, H2CClient } from '../src/index.ts'

const BYTES = Math.round(Number(process.env['GIGABYTES'] ?? 1) * 2 ** 30)
const PIECE = Buffer.alloc(64 * 1024, 'v')

type Message = { readonly ports: readonly [h1: number, h2c: number] }

if (process.argv[2] === 'origin') await runOrigin()
else await run()

async function runOrigin(): Promise<void> {
  const listener = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    if (request.url === '/download') {
      let left = BYTES
      const write = (): void => {
        while (left > 0) {
          left -= PIECE.length
          if (!response.write(PIECE) && left > 0) {
            response.once('drain', write)
            return
          }
        }
        response.end()
      }
      write()
      return
    }
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on('end', () => response.end(String(bytes)))
  }
  const servers = [
    http.createServer(listener),
    http2.createServer(
      listener as unknown as (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void,
    ),
  ]
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  process.send!({ ports })
}

async function run(): Promise<void> {
  const origin = fork(new URL(import.meta.url), ['origin'])
  try {
    const [h1, h2c] = await portsOf(origin)
    await measure('HTTP/1.1', (options) => new Client(`http://127.0.0.1:${h1}`, options))
    await measure('h2c', ({ pipelining: _, ...options }) => new H2CClient(`http://127.0.0.1:${h2c}`, options))
  } finally {
    origin.kill()
  }
}

async function portsOf(origin: ChildProcess): Promise<Message['ports']> {
  const [message] = (await once(origin, 'message')) as [Message]
  return message.ports
}

async function measure(name: string, connect: (options: { pipelining?: number }) => Client): Promise<void> {
  await timed(`${name}: 10,000 sequential requests`, async () => {
    const client = connect({})
    for (let i = 0; i < 10_000; i++) {
      const { body } = await client.request({ path: '/', method: 'GET' })
      await body.text()
    }
    await client.close()
  })
  await timed(`${name}: 10,000 requests, 10 in flight`, async () => {
    const client = connect({ pipelining: 10 })
    for (let i = 0; i < 1_000; i++) {
      const ten = Array.from({ length: 10 }, async () => {
        const { body } = await client.request({ path: '/', method: 'GET', blocking: false })
        await body.text()
      })
      await Promise.all(ten)
    }
    await client.close()
  })
  await timed(`${name}: 1,000 requests queued at once`, async () => {
    const client = connect({})
    const all = Array.from({ length: 1_000 }, async () => {
      const { body } = await client.request({ path: '/', method: 'GET' })
      await body.text()
    })
    await Promise.all(all)
    await client.close()
  })
  await timed(`${name}: download of ${BYTES} bytes`, async () => {
    const client = connect({})
    let bytes = 0
    await client.stream(
      { path: '/download', method: 'GET' },
      () =>
        new Writable({
          write(chunk: Buffer, _encoding, done) {
            bytes += chunk.length
            done()
          },
        }),
    )
    if (bytes !== BYTES) throw new Error(`received ${bytes} bytes`)
    await client.close()
  })
  await timed(`${name}: upload of ${BYTES} bytes`, async () => {
    const client = connect({})
    const { body } = await client.request({ path: '/upload', method: 'POST', body: pieces() })
    const received = Number(await body.text())
    if (received !== BYTES) throw new Error(`the origin received ${received} bytes`)
    await client.close()
  })
}

async function* pieces(): AsyncGenerator<Buffer> {
  for (let left = BYTES; left > 0; left -= PIECE.length) yield PIECE
}

async function timed(name: string, work: () => Promise<void>): Promise<void> {
  let peak = 0
  const sample = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  const before = process.memoryUsage.rss()
  const start = performance.now()
  await work()
  clearInterval(sample)
  const seconds = (performance.now() - start) / 1000
  const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0)
  console.log(
    `${name}: ${seconds.toFixed(2)} s, resident memory ${megabytes(before)} MB before, ` +
      `${megabytes(Math.max(peak, before))} MB at the most`,
  )
}
