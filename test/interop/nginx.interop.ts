/** nginx: HTTP/2 over TLS and in cleartext, HTTP/1.1 over both, uploads through it, and its restarts. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Client, H2CClient } from '../../src/index.ts'
import { CERT_FILE, findProgram, freePort, KEY_FILE, Stage, TRUST, writeContent } from './real-server.ts'
import {
  assertAllSucceeded,
  assertNothingNeedless,
  echoAll,
  getLarge,
  getSmall,
  head,
  LARGE,
  notFound,
  storm,
} from './transfers.ts'

const program = findProgram('nginx')

interface Ports {
  readonly h2: number
  readonly h2c: number
  readonly h1: number
  readonly h1s: number
  /** Few requests on each connection. */
  readonly fewH2: number
  readonly fewH2c: number
  readonly fewH1: number
  /** Few streams at a time. */
  readonly narrowH2: number
  readonly narrowH2c: number
}

function configuration(folder: string, ports: Ports, origin: number): string {
  const site = (listen: string, requests: number, more = ''): string => `
    server {
      listen 127.0.0.1:${listen};
      server_name localhost;
      root ${folder}/htdocs;
      keepalive_requests ${requests};
      ${more}
      client_max_body_size 0;
      location /echo {
        proxy_pass http://127.0.0.1:${origin};
        proxy_http_version 1.1;
        proxy_request_buffering off;
        proxy_buffering off;
        proxy_read_timeout 10s;
        proxy_send_timeout 10s;
      }
    }`
  const many = 10_000_000
  // The worker of a master that runs as root would otherwise not be allowed to read the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return `
    daemon off;
    ${user}
    worker_processes 1;
    pid ${folder}/nginx.pid;
    error_log stderr crit;
    events { worker_connections 512; }
    http {
      access_log off;
      default_type text/plain;
      keepalive_timeout 3600;
      client_body_temp_path ${folder}/body;
      proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/fastcgi;
      uwsgi_temp_path ${folder}/uwsgi;
      scgi_temp_path ${folder}/scgi;
      ssl_certificate ${CERT_FILE};
      ssl_certificate_key ${KEY_FILE};
      ${site(`${ports.h2} ssl http2`, many)}
      ${site(`${ports.h2c} http2`, many)}
      ${site(`${ports.h1}`, many)}
      ${site(`${ports.h1s} ssl`, many)}
      ${site(`${ports.fewH2} ssl http2`, 20)}
      ${site(`${ports.fewH2c} http2`, 20)}
      ${site(`${ports.fewH1}`, 20)}
      ${site(`${ports.narrowH2} ssl http2`, many, 'http2_max_concurrent_streams 3;')}
      ${site(`${ports.narrowH2c} http2`, many, 'http2_max_concurrent_streams 3;')}
    }`
}

/**
 * Sends back what it gets: on `/echo/duplex` while it comes, elsewhere when all of it is there. nginx stops
 * reading an HTTP/1.1 request once the response has begun and the client has to be waited for, so there only
 * the second works, whatever the client.
 */
async function startEcho(stage: Stage): Promise<number> {
  const server = http.createServer((request, response) => {
    if (request.url === '/echo/duplex') {
      response.writeHead(200)
      request.pipe(response)
      return
    }
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => response.end(Buffer.concat(parts)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stage.onEnd(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

describe('nginx', program === null ? { skip: 'nginx is not installed' } : {}, () => {
  const stage = new Stage()
  let nginx: ChildProcess
  let ports: Ports
  let small: Buffer
  let large: Buffer

  const clients = {
    h2: () => new Client(`https://127.0.0.1:${ports.h2}`, { connect: TRUST }),
    h2c: () => new H2CClient(`http://127.0.0.1:${ports.h2c}`),
    h1: () => new Client(`http://127.0.0.1:${ports.h1}`),
    'h1+tls': () => new Client(`https://127.0.0.1:${ports.h1s}`, { connect: TRUST }),
  } as const
  type Wire = keyof typeof clients
  const wires = Object.keys(clients) as Wire[]
  const multiplexes = (wire: Wire): boolean => wire.startsWith('h2')

  before(async () => {
    const folder = stage.folder()
    mkdirSync(join(folder, 'htdocs'))
    small = writeContent(join(folder, 'htdocs', 'small.txt'), 1_000)
    large = writeContent(join(folder, 'htdocs', 'large.bin'), LARGE)
    ports = {
      h2: await freePort(),
      h2c: await freePort(),
      h1: await freePort(),
      h1s: await freePort(),
      fewH2: await freePort(),
      fewH2c: await freePort(),
      fewH1: await freePort(),
      narrowH2: await freePort(),
      narrowH2c: await freePort(),
    }
    const file = join(folder, 'nginx.conf')
    writeFileSync(file, configuration(folder, ports, await startEcho(stage)))
    nginx = await stage.start(program!, ['-p', folder, '-c', file, '-e', 'stderr'], Object.values(ports))
  })
  after(() => stage.end())

  for (const wire of wires) {
    describe(wire, () => {
      let client: Client
      let connections = 0

      before(() => {
        client = clients[wire]()
        client.on('connect', () => connections++)
      })
      after(() => client.destroy())

      test('small bodies, HEAD and 404 on one connection', async () => {
        await getSmall(client, '/small.txt', small)
        await getSmall(client, '/small.txt', small)
        await notFound(client)
        await getSmall(client, '/small.txt', small)
        assert.equal(connections, 1)
        await head(client, '/small.txt', small.length)
      })

      test('50 MB, three at a time', () => getLarge(client, '/large.bin', large))
      test('POST of bytes and streams up to 50 MB comes back', () => echoAll(client, '/echo'))
      if (multiplexes(wire)) {
        test('and while it is being sent', () => echoAll(client, '/echo/duplex'))
      }

      const each = multiplexes(wire) ? 1_000 : 100
      test(`100 at a time, ${each} each, on one connection`, async () => {
        let opened = 0
        const busy = clients[wire]()
        busy.on('connect', () => opened++)
        const tally = await storm(busy, '/small.txt', small, 100, each)
        await busy.close()
        assertAllSucceeded(tally, 100 * each)
        assert.equal(opened, 1)
      })

      test('an abort in the middle of 50 MB', async () => {
        const { body } = await client.request({ path: '/large.bin', method: 'GET' })
        for await (const _ of body) break
        await getSmall(client, '/small.txt', small)
      })
    })
  }

  for (const [name, port, secure] of [
    ['h2', 'fewH2', true],
    ['h2c', 'fewH2c', false],
    ['h1', 'fewH1', false],
  ] as const) {
    test(`${name}: a server that takes 20 requests on each connection; all succeed`, async () => {
      const client =
        name === 'h2c'
          ? new H2CClient(`http://127.0.0.1:${ports[port]}`)
          : new Client(
              `http${secure ? 's' : ''}://127.0.0.1:${ports[port]}`,
              secure ? { connect: TRUST } : {},
            )
      let opened = 0
      client.on('connect', () => opened++)
      const tally = await storm(client, '/small.txt', small, 10, 100)
      await client.close()
      assertNothingNeedless(tally)
      assertAllSucceeded(tally, 1_000)
      assert.ok(opened >= 45, `${opened} connections`)
    })
  }

  for (const [name, open] of [
    ['h2', () => new Client(`https://127.0.0.1:${ports.narrowH2}`, { connect: TRUST })],
    ['h2c', () => new H2CClient(`http://127.0.0.1:${ports.narrowH2c}`)],
  ] as const) {
    test(`${name}: a server that takes three streams at a time; those too early are sent again`, async () => {
      const client = open()
      const tally = await storm(client, '/small.txt', small, 60, 20)
      await client.close()
      assertAllSucceeded(tally, 1_200)
    })
  }

  for (const wire of wires) {
    test(`${wire}: restarts under load fail nothing that was safe to send again`, async (t) => {
      const client = clients[wire]()
      const errors: Error[] = []
      client.on('disconnect', (_origin: URL, _targets: unknown, error: Error) => errors.push(error))
      let done = false
      const load = storm(client, '/small.txt', small, 50, multiplexes(wire) ? 400 : 60).finally(() => {
        done = true
      })
      let reloads = 0
      while (!done && reloads < 8) {
        // What `nginx -s reload` does: new workers, the old ones say goodbye and finish what they have.
        nginx.kill('SIGHUP')
        reloads++
        const turnover = new Promise((resolve) => client.once('disconnect', resolve))
        await Promise.race([turnover, load])
      }
      const tally = await load
      await client.close()
      assertNothingNeedless(tally)
      assert.ok(errors.length >= 1, 'no connection was replaced')
      assert.ok(
        tally.failures.length < tally.succeeded / 10,
        `${tally.failures.length} of ${tally.succeeded + tally.failures.length} failed: ${tally.failures[0]?.stack}`,
      )
      t.diagnostic(
        `${wire}: ${reloads} restarts, ${errors.length} connections replaced, ` +
          `${tally.succeeded} requests succeeded, ${tally.failures.length} failed`,
      )
    })
  }
})
