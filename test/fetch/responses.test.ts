/** Responses of fetch on our dispatchers. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { Response } from '../../src/index.ts'
import { fetch } from '../support/any-fetch.ts'
import { deferred, failure } from '../support/exchange.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'
import { overEachWire, startOrigin, type Wire } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

const plain = Buffer.from('plain')

/** Coding, bytes on the wire, text that the caller reads. */
const CODINGS: [coding: string, bytes: Buffer, read: string][] = [
  ['gzip', gzipSync(plain), 'plain'],
  ['x-gzip', gzipSync(plain), 'plain'],
  ['GZip', gzipSync(plain), 'plain'],
  ['deflate', deflateSync(plain), 'plain'],
  ['deflate', deflateRawSync(plain), 'plain'],
  ['br', brotliCompressSync(plain), 'plain'],
  ['deflate, gzip', gzipSync(deflateSync(plain)), 'plain'],
  ['gzip, br', brotliCompressSync(gzipSync(plain)), 'plain'],
  // One unknown coding, and none of them is decoded.
  ['unknown', plain, 'plain'],
  ['unknown, gzip', plain, 'plain'],
]

overEachWire('a response to fetch', (wire) => {
  test('is decoded', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      const [coding, bytes] = CODINGS[Number(request.url!.slice(1))]!
      response.writeHead(200, { 'content-encoding': coding }).end(bytes)
    })
    const dispatcher = agentFor(t, wire)
    for (const [index, [coding, , read]] of CODINGS.entries()) {
      const response = await fetch(`${origin.url}/${index}`, { dispatcher })
      assert.equal(await response.text(), read, coding)
      assert.equal(response.headers.get('content-encoding'), coding)
    }
  })

  test('is not decoded where it has no body', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.statusCode = Number(request.url!.slice(1))
      response.end()
    })
    const dispatcher = agentFor(t, wire)
    for (const [method, status] of [
      ['HEAD', 200],
      ['GET', 204],
      ['GET', 205],
      ['GET', 304],
    ] as const) {
      const response = await fetch(`${origin.url}/${status}`, { dispatcher, method })
      assert.deepEqual([response.status, response.body, await response.text()], [status, null, ''])
    }
  })

  test('has its fields as they came', async (t) => {
    const origin = await startOrigin(t, wire, (_, response) => {
      response.setHeader('set-cookie', ['a=1', 'b=2, c'])
      response.setHeader('x-many', ['one', 'two'])
      response.setHeader('x-latin', 'gr\u00fcn')
      response.end()
    })
    const response = await fetch(origin.url, { dispatcher: agentFor(t, wire) })
    assert.ok(response instanceof Response)
    assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2, c'])
    assert.equal(response.headers.get('x-many'), 'one, two')
    assert.equal(response.headers.get('x-latin'), 'gr\u00fcn')
    assert.equal(response.statusText, wire.multiplexes ? '' : 'OK')
    await response.text()
  })

  test('comes after informational ones, which nobody sees', async (t) => {
    const origin = await startOrigin(t, wire, (_, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' })
      response.writeEarlyHints({ link: '</b.css>; rel=preload' })
      response.end('final')
    })
    const response = await fetch(origin.url, { dispatcher: agentFor(t, wire) })
    assert.deepEqual([response.status, response.headers.get('link')], [200, null])
    assert.equal(await response.text(), 'final')
  })

  test('has clones with all of its content, whoever reads first', async (t) => {
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 251))
    const origin = await startOrigin(t, wire, async (_, response) => {
      for (let at = 0; at < content.length; at += 10_000) {
        response.write(content.subarray(at, at + 10_000))
        await new Promise(setImmediate)
      }
      response.end()
    })
    const dispatcher = agentFor(t, wire)
    for (const order of [0, 1, 2]) {
      const response = await fetch(origin.url, { dispatcher })
      const all = [response, response.clone(), response.clone()]
      const first = all.splice(order, 1)[0]!
      assert.equal(Buffer.compare(await first.bytes(), content), 0)
      const rest = await Promise.all(all.map((each) => each.bytes()))
      for (const bytes of rest) assert.equal(Buffer.compare(bytes, content), 0)
    }
  })

  test('that is cancelled is given up', async (t) => {
    const gone = deferred()
    const origin = await startOrigin(t, wire, (_, response) => {
      response.on('close', () => gone.resolve())
      response.write('endless')
    })
    const response = await fetch(origin.url, { dispatcher: agentFor(t, wire) })
    await response.body!.cancel()
    await gone.promise
  })
})

const H1: Wire = { name: 'h1', secure: false, multiplexes: false }

describe('fetch', () => {
  test('a connection that takes too long is the cause', async (t) => {
    // An unused server keeps the event loop alive: nothing else would while the timer runs.
    const origin = await startOrigin(t, H1, () => {})
    const dispatcher = agentFor(t, H1, { connect: { timeout: 1, lookup: () => {} } })
    const error = await failure(fetch(origin.url, { dispatcher }))
    assert.equal(error.message, 'fetch failed')
    assert.equal((error.cause as NodeJS.ErrnoException).code, 'UND_ERR_CONNECT_TIMEOUT')
  })

  test('a status outside of the classes is passed on; repeated lengths are refused', async (t) => {
    const heads = [
      'HTTP/1.1 600 Odd\r\ncontent-length: 2',
      'HTTP/1.1 999 \r\ncontent-length: 2',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2',
      'HTTP/1.1 200 OK\r\ncontent-length: 2, 2',
      'HTTP/1.1 099 Low\r\ncontent-length: 2',
    ]
    const origin = await startOrigin(t, H1, (request) => {
      request.socket.end(`${heads[Number(request.url!.slice(1))]}\r\n\r\nok`)
    })
    const dispatcher = agentFor(t, H1)
    const seen: unknown[] = []
    for (const index of heads.keys()) {
      const fetched = fetch(`${origin.url}/${index}`, { dispatcher })
      seen.push(
        await fetched.then(
          async (response) => [response.status, response.statusText, response.ok, await response.text()],
          (error: Error) => error.message,
        ),
      )
    }
    const failed = 'fetch failed'
    assert.deepEqual(seen, [[600, 'Odd', false, 'ok'], [999, '', false, 'ok'], failed, failed, failed])
  })

  test('data and blob are schemes, about and file are none', async (t) => {
    const dispatcher = { dispatch: () => assert.fail('nothing is to be sent') }
    assert.equal(await (await fetch('data:text/plain,here', { dispatcher })).text(), 'here')
    const url = URL.createObjectURL(new Blob(['blob']))
    t.after(() => URL.revokeObjectURL(url))
    assert.equal(await (await fetch(url, { dispatcher })).text(), 'blob')
    for (const wrong of ['about:blank', 'file:///etc/passwd', 'ftp://a.test/']) {
      assert.equal((await failure(fetch(wrong, { dispatcher }))).name, 'TypeError')
    }
  })

  test('a response that nobody keeps is cancelled', async (t) => {
    const gone = deferred()
    const origin = await startOrigin(t, H1, (_, response) => {
      response.on('close', () => gone.resolve())
      response.write('endless')
    })
    const library = sourceUrl('src/index.ts')
    const script = `
      const { Agent, fetch } = await import(${JSON.stringify(library)})
      const dispatcher = new Agent()
      await (async () => void (await fetch(${JSON.stringify(origin.url)}, { dispatcher })))()
      const collect = () => {
        gc()
        if (Object.keys(dispatcher.stats).length > 0) setTimeout(collect, 1)
        else dispatcher.close()
      }
      collect()
    `
    const child = spawn(
      process.execPath,
      ['--expose-gc', ...sourceLoader, '--input-type=module', '-e', script],
      { cwd: fileURLToPath(new URL('../..', import.meta.url)), stdio: ['ignore', 'inherit', 'pipe'] },
    )
    const errors = text(child.stderr)
    const code = await new Promise((resolve) => child.once('close', resolve))
    assert.equal(code, 0, await errors)
    await gone.promise
  })
})
