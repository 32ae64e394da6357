/** RedisCacheStore on a real server, with both packages, killed and restarted under load. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Agent, cacheStores, interceptors, type RedisClient } from '../../src/index.ts'
import { eventually } from '../support/fake-clock.ts'
import { freePort } from './ports.ts'
import { findProgram, ServerProcess } from './server-process.ts'
import { until } from './until.ts'

const program = findProgram('redis-server') ?? findProgram('valkey-server')
const folder = fileURLToPath(new URL('./redis-clients/', import.meta.url))

interface Connected {
  readonly client: RedisClient
  ping(): Promise<unknown>
  close(): void
}

/** The packages are not part of the library's tree. */
function load(name: string): unknown {
  const require = createRequire(join(folder, 'package.json'))
  try {
    return require(name)
  } catch {
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: 'ignore',
    })
    return require(name)
  }
}

/** Milliseconds until a client connects again. */
const RECONNECT_PAUSE = 50

const packages: Record<string, (port: number) => Promise<Connected>> = {
  async redis(port) {
    const { createClient } = load('redis') as { createClient(options: object): never }
    const client = createClient({
      socket: { port, host: '127.0.0.1', reconnectStrategy: RECONNECT_PAUSE },
    }) as {
      on(event: string, listener: () => void): unknown
      connect(): Promise<unknown>
      ping(): Promise<unknown>
      destroy(): void
      sendCommand(args: unknown): Promise<unknown>
    }
    client.on('error', () => {})
    await client.connect()
    return { client, ping: () => client.ping(), close: () => client.destroy() }
  },
  async ioredis(port) {
    const { Redis } = load('ioredis') as { Redis: new (options: object) => never }
    const client = new Redis({
      port,
      host: '127.0.0.1',
      retryStrategy: () => RECONNECT_PAUSE,
    }) as RedisClient & {
      on(event: string, listener: () => void): unknown
      ping(): Promise<unknown>
      disconnect(): void
    }
    client.on('error', () => {})
    return { client, ping: () => client.ping(), close: () => client.disconnect() }
  },
}

describe('RedisCacheStore', {
  skip: program === null ? 'no redis-server and no valkey-server' : false,
}, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'ventuno-redis-'))
  after(() => rmSync(scratch, { recursive: true, force: true }))

  const start = (port: number): Promise<ServerProcess> =>
    ServerProcess.start({
      file: program!,
      args: [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--save',
        '',
        '--appendonly',
        'no',
        '--dir',
        scratch,
      ],
      ports: [port],
      logFile: join(scratch, `${port}.log`),
    })

  for (const [name, connect] of Object.entries(packages)) {
    test(`with ${name}: stores, shares, removes; killed and restarted under load, no request fails`, async (t) => {
      const port = await freePort()
      let server = await start(port)
      t.after(() => server.stop())
      const connections = [await connect(port), await connect(port)]
      t.after(() => {
        for (const connection of connections) connection.close()
      })

      let asked = 0
      const large = Buffer.alloc(1_000_000)
      for (let i = 0; i < large.length; i++) large[i] = (i * 31) & 0xff
      const origin = http.createServer((request, response) => {
        asked++
        if (request.method === 'POST') response.writeHead(204).end()
        else {
          response.writeHead(200, { 'cache-control': 'max-age=60', etag: '"1"' })
          response.end(request.url!.startsWith('/large') ? large : `hello ${request.url}`)
        }
      })
      await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
      t.after(() => void origin.close())
      const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`
      const [first, second] = connections.map(({ client }) => {
        const store = new cacheStores.RedisCacheStore({ client, timeout: 200 })
        return new Agent().compose(interceptors.cache({ store }))
      })
      t.after(() => Promise.all([first!.destroy(), second!.destroy()]))
      const get = async (agent: Agent, path: string): Promise<Buffer> => {
        const { statusCode, body } = await agent.request({ origin: url, path, method: 'GET' })
        assert.equal(statusCode, 200)
        return Buffer.from(await body.bytes())
      }
      /** A client that is still away would not notice that the server is killed once more. */
      const connected = (connection: Connected): Promise<unknown> =>
        connection.ping().catch(() => connected(connection))
      const isStored = async (agent: Agent, path: string): Promise<boolean> => {
        const before = asked
        await get(agent, path)
        return asked === before
      }
      const stored = (path: string): Promise<void> => until(`${path} is stored`, () => isStored(first!, path))
      /** The second process finds what the first one has stored. Either may leave a slow store alone for a while. */
      const shared = async (path: string): Promise<void> => {
        let attempt = 0
        await until(`${path} is shared`, async () => {
          const fresh = `${path}?${attempt++}`
          await stored(fresh)
          return isStored(second!, fresh)
        })
      }

      await shared('/a')
      await shared('/large')
      assert.ok(large.equals(await get(second!, '/large?0')))
      await stored('/a')
      await (await second!.request({ origin: url, path: '/a', method: 'POST' })).body.dump()
      await until('/a is removed', async () => !(await isStored(first!, '/a')))

      // Under load: every request gets its answer, from the store or from the origin.
      let done = 0
      let stop = false
      const workers = Array.from({ length: 8 }, async (_, worker) => {
        for (let i = 0; !stop; i++) {
          const path = i % 10 === 0 ? '/large' : `/${(worker + i) % 20}`
          const body = await get(i % 2 === 0 ? first! : second!, path)
          assert.ok(path === '/large' ? large.equals(body) : body.toString() === `hello ${path}`)
          done++
        }
      })
      for (let round = 0; round < 3; round++) {
        await Promise.all(connections.map(connected))
        const target = done + 200
        await eventually(() => done > target)
        server.kill()
        await server.stop()
        const down = done + 100
        await eventually(() => done > down)
        server = await start(port)
      }
      stop = true
      await Promise.all(workers)
      await shared('/back')
    })
  }
})
