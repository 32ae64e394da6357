/** Bodies in every coding that a real server makes, decoded by `interceptors.decompress` and by fetch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import zlib from 'node:zlib'
import { fetch, interceptors } from '../../src/index.ts'
import { TEXT } from './content.ts'
import { type RealServer, WIRES, type Wire } from './real-server.ts'
import { describeServer, type RunningServer } from './running-server.ts'
import { apache } from './servers/apache.ts'
import { caddy } from './servers/caddy.ts'
import { h2o } from './servers/h2o.ts'
import { haproxy } from './servers/haproxy.ts'
import { lighttpd } from './servers/lighttpd.ts'
import { nginx } from './servers/nginx.ts'

const servers: readonly RealServer[] = [nginx, apache, caddy, h2o, lighttpd, haproxy]
const hasZstd = 'createZstdDecompress' in zlib

for (const server of servers) {
  describeServer(server, (running) => {
    for (const wire of WIRES) {
      for (const [coding, paths] of Object.entries(server.codings ?? {})) {
        const skip = coding === 'zstd' && !hasZstd ? 'this runtime does not know zstd' : false
        for (const path of paths) {
          test(`${wire}: ${coding} of ${path}`, { skip }, () => decodes(running, wire, coding, path))
        }
      }
      test(`${wire}: what the client asks for by itself`, () => negotiates(running, wire))
    }
  })
}

async function decodes(running: RunningServer, wire: Wire, coding: string, path: string): Promise<void> {
  const client = running.open(wire)
  const headers = { 'accept-encoding': coding }
  const request = { path, method: 'GET', headers }

  // As it is sent: otherwise this test would prove nothing.
  const encoded = await client.request(request)
  assert.equal(encoded.headers['content-encoding'], coding)
  assert.ok((await encoded.body.bytes()).length < TEXT.length / 2)

  const decoded = await client.compose(interceptors.decompress()).request(request)
  assert.equal(decoded.headers['content-encoding'], undefined)
  assert.equal(decoded.headers['content-length'], undefined)
  assert.ok((await decoded.body.text()) === TEXT)

  const response = await fetch(new URL(path, originOf(running, wire)), { headers, dispatcher: client })
  assert.ok((await response.text()) === TEXT)
  await client.close()
}

async function negotiates(running: RunningServer, wire: Wire): Promise<void> {
  const client = running.open(wire)
  const asking = client.compose(interceptors.decompress({ acceptEncoding: true }))
  const { headers, body } = await asking.request({ path: '/text.txt', method: 'GET' })
  assert.equal(headers['content-encoding'], undefined)
  assert.ok((await body.text()) === TEXT)
  const response = await fetch(new URL('/text.txt', originOf(running, wire)), { dispatcher: client })
  assert.ok((await response.text()) === TEXT)
  await client.close()
}

function originOf({ site }: RunningServer, wire: Wire): string {
  switch (wire) {
    case 'h1':
      return site.h1
    case 'h2c':
      return site.h2c
    default:
      return site.tls
  }
}
