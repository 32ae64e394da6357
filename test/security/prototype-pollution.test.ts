/** Properties of `Object.prototype` are never options, and data from a peer never reaches it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client, type DispatchOptions, type ResponseData } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { OK, startPair } from '../support/scripted-client.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

/** Answers with the request that it saw. */
function echo(request: http.IncomingMessage, response: http.ServerResponse): void {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    const { method, url, headers } = request
    const peer = (request.socket as TLSSocket).getPeerCertificate?.().subject?.CN
    const version = (request.socket as TLSSocket).getProtocol?.()
    response.end(JSON.stringify({ method, url, headers, body, peer, version }))
  })
}

async function listen(t: TestContext, server: Server): Promise<string> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return String((server.address() as AddressInfo).port)
}

interface Report {
  readonly expected: readonly (readonly [string, string])[]
  readonly tried: number
  readonly differences: readonly string[]
}

describe('axios CVE-2026-42264, CVE-2026-42042, CVE-2026-67319: options through a polluted prototype', () => {
  test('requests, connections and trust are as without it', async (t) => {
    const plain = http.createServer(echo).on('upgrade', (request, socket) => {
      const saw = JSON.stringify([request.method, request.url, request.headers])
      socket.end(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\nx-saw: ${saw}\r\n\r\n`,
      )
    })
    const h2c = http2.createServer(
      echo as unknown as Parameters<typeof http2.createServer>[0],
    ) as unknown as Server
    const secure = https.createServer(
      { ...localhost, ca: authority, requestCert: true, rejectUnauthorized: false },
      echo,
    )
    const ports = [await listen(t, plain), await listen(t, h2c), await listen(t, secure)]
    const child = fileURLToPath(sourceUrl('test/security/polluted-requests.ts'))
    const { stdout } = await promisify(execFile)(process.execPath, [...sourceLoader, child, ...ports])
    const { expected, tried, differences } = JSON.parse(stdout) as Report

    assert.deepEqual(differences, [])
    assert.ok(tried > 160)
    const outcomes = new Map(expected)
    for (const [exchange, text] of outcomes) {
      const untrusted = exchange === 'request to somebody who is not trusted'
      assert.match(text, untrusted ? /^Error (UNABLE|SELF_SIGNED)\S+ / : /right/, exchange)
    }
  })

  test('options may still come from a class', async (t) => {
    const { client, server } = await startPair(t)
    class Inherited {
      readonly path = '/own'
      get method(): string {
        return 'PUT'
      }
    }
    class Options extends Inherited {
      get headers(): DispatchOptions['headers'] {
        return { 'x-class': 'yes' }
      }
    }
    const prototype = Object.prototype as { body?: string; headers?: object; method?: string }
    Object.assign(prototype, { body: 'evil', headers: { 'x-evil': 'yes' }, method: 'DELETE' })
    let asked: Promise<ResponseData>
    try {
      asked = client.request(new Options())
    } finally {
      for (const name of ['body', 'headers', 'method'] as const) delete prototype[name]
    }
    const connection = await server.accept()
    const head = await connection.head()
    assert.match(head, /^PUT \/own HTTP\/1\.1\r\n.*\r\nx-class: yes\r\n.*content-length: 0\r\n\r\n$/s)
    connection.send(OK)
    await (await asked).body.text()
  })

  test('what is no object is refused as ever', async (t) => {
    const client = new Client('http://localhost:1')
    t.after(() => client.destroy())
    const prototype = Object.prototype as { path?: string }
    prototype.path = '/'
    try {
      for (const options of [null, undefined, 'x', 5]) {
        const refused = client.request(options as unknown as DispatchOptions)
        refused.catch(() => {})
        await assert.rejects(refused, { message: 'invalid opts' })
      }
    } finally {
      delete prototype.path
    }
  })
})

describe('tough-cookie CVE-2023-26136 and its class: names of a peer', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']
  const check = (fields: Record<string, unknown>, what: string): void => {
    assert.deepEqual(
      NAMES.map((name) => Object.getOwnPropertyDescriptor(fields, name.toLowerCase())?.value),
      NAMES.map(() => 'polluted'),
      what,
    )
    assert.equal(Object.getPrototypeOf(fields), Object.prototype)
    assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  }

  test('headers and trailers over h1', async (t) => {
    const { client, server } = await startPair(t)
    const asked = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    const fields = NAMES.map((name) => `${name}: polluted\r\n`).join('')
    connection.send(`HTTP/1.1 200 OK\r\n${fields}transfer-encoding: chunked\r\n\r\n0\r\n${fields}\r\n`)
    const { headers, trailers, body } = await asked
    await body.text()
    check(headers, 'headers')
    check(trailers, 'trailers')
  })

  test('headers and trailers over h2', async (t) => {
    const { client, server } = await startH2Pair(t)
    const asked = client.request({ path: '/', method: 'GET' })
    const peer = await server.accept()
    const { id } = await peer.request()
    const fields = NAMES.flatMap((name) => [name.toLowerCase(), 'polluted'])
    peer.head(id, 200, fields).headers(id, fields, true)
    const { headers, trailers, body } = await asked
    await body.text()
    check(headers, 'headers')
    check(trailers, 'trailers')
  })
})
