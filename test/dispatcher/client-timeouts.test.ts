import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { Client, type ClientOptions } from '../../src/index.ts'
import { FakeClock, turns } from '../support/fake-clock.ts'
import { memoryPair } from '../support/memory-client.ts'
import { OK, send } from '../support/scripted-client.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

function start(t: TestContext, options: ClientOptions): { clock: FakeClock } & ReturnType<typeof memoryPair> {
  const clock = FakeClock.install(t)
  return { clock, ...memoryPair(t, options) }
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'

/** Advances time in steps until the request has settled; returns the time it took. */
async function timeToSettle(
  clock: FakeClock,
  handler: { settled: Promise<unknown> },
  limit: number,
): Promise<number> {
  const begin = clock.now
  let settled = false
  void handler.settled.then(() => {
    settled = true
  })
  while (!settled && clock.now - begin < limit) {
    await clock.advance(5)
    await turns(2)
  }
  return clock.now - begin
}

describe('headersTimeout', () => {
  test('fails the request, destroys the socket, and the next one goes on', async (t) => {
    const { clock, client, sockets, settle, say } = start(t, { headersTimeout: 1000 })
    const late = send(client)
    const next = send(client)
    await settle()
    await clock.advance(999)
    assert.deepEqual(late.errors, [])
    await clock.advance(1)
    await settle()
    assert.equal(late.error?.name, 'HeadersTimeoutError')
    assert.equal((late.error as { code?: string }).code, 'UND_ERR_HEADERS_TIMEOUT')
    assert.match(late.error!.message, /^Headers Timeout Error/)
    assert.equal(sockets[0]!.destroyed, true)
    assert.equal(sockets.length, 2)
    await say(OK)
    assert.equal(next.body, 'ok')
  })

  for (const timeout of [1, 50, 100, 500, 1000]) {
    test(`of ${timeout} ms fires within 10 % + 50 ms, and not early`, async (t) => {
      const { clock, client, settle } = start(t, { headersTimeout: timeout })
      const handler = send(client)
      await settle()
      const took = await timeToSettle(clock, handler, 5000)
      assert.ok(took >= timeout && took <= timeout * 1.1 + 50, `${took} ms`)
    })
  }

  test('the value of a request wins, 0 disables', async (t) => {
    const { clock, client, settle, say } = start(t, { headersTimeout: 1000 })
    const short = send(client, { headersTimeout: 10 })
    await settle()
    await clock.advance(10)
    await settle()
    assert.equal(short.error?.name, 'HeadersTimeoutError')
    const endless = send(client, { headersTimeout: 0 })
    await settle()
    await clock.advance(1e9)
    assert.deepEqual(endless.errors, [])
    await say(OK)
    assert.equal(endless.body, 'ok')
  })

  test('0 for the client disables it; a request may still have one', async (t) => {
    const { clock, client, settle } = start(t, { headersTimeout: 0 })
    const endless = send(client)
    await settle()
    await clock.advance(1e9)
    assert.deepEqual(endless.errors, [])
    client.pipelining = 2
    await client.destroy()
    const { client: other, settle: settleOther } = memoryPair(t, { headersTimeout: 0 })
    const short = send(other, { headersTimeout: 10 })
    await settleOther()
    await clock.advance(10)
    await settleOther()
    assert.equal(short.error?.name, 'HeadersTimeoutError')
  })

  test('300 s by default', async (t) => {
    const { clock, client, settle } = start(t, {})
    const handler = send(client)
    await settle()
    await clock.advance(299_999)
    assert.deepEqual(handler.errors, [])
    await clock.advance(1)
    await settle()
    assert.equal(handler.error?.name, 'HeadersTimeoutError')
  })

  test('does not run while the request waits for a connection', async (t) => {
    const clock = FakeClock.install(t)
    const client = new Client('http://localhost:1', { connect: () => {}, headersTimeout: 10 })
    t.after(() => client.destroy())
    const handler = send(client)
    await clock.advance(1000)
    assert.deepEqual(handler.errors, [])
  })

  test('102 starts it anew each time, other interim heads do not', async (t) => {
    const { clock, client, settle, say } = start(t, { headersTimeout: 1000 })
    t.mock.method(performance, 'now', () => clock.now)
    const handler = send(client)
    await settle()
    for (let i = 0; i < 300; i++) {
      await clock.advance(900)
      await say('HTTP/1.1 102 Processing\r\n\r\n')
    }
    await clock.advance(900)
    await say('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n')
    await clock.advance(99)
    await settle()
    assert.deepEqual(handler.errors, [])
    await clock.advance(1)
    await settle()
    assert.equal((handler.error as { code?: string } | null)?.code, 'UND_ERR_HEADERS_TIMEOUT')
  })

  test('interim heads are limited by their rate, for each request anew', async (t) => {
    const { clock, client, settle, say } = start(t, {})
    t.mock.method(performance, 'now', () => clock.now)
    const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(256)
    for (let i = 0; i < 3; i++) {
      const answered = send(client)
      await settle()
      await say(`${hints}HTTP/1.1 204 No Content\r\n\r\n`)
      assert.deepEqual([answered.statuses.length, answered.status], [257, 204])
    }
    const handler = send(client)
    await settle()
    for (let i = 0; i < 3; i++) {
      await say(hints)
      await clock.advance(10_000)
    }
    await say(hints)
    assert.deepEqual(handler.errors, [])
    await say('HTTP/1.1 103 Early Hints\r\n\r\n')
    const error = handler.error as { code?: string; message?: string; cause?: { message: string } } | null
    assert.deepEqual([error?.code, error?.message], ['UND_ERR_SOCKET', 'bad response'])
    assert.match(error?.cause?.message ?? '', /more than 256 interim responses to one request within 10 s/)
  })

  test('part of a head does not stop it, 102 starts it anew', async (t) => {
    const { clock, client, settle, say } = start(t, { headersTimeout: 100 })
    const handler = send(client)
    await settle()
    await clock.advance(90)
    await say('HTTP/1.1 102 Processing\r\n\r\n')
    await clock.advance(90)
    assert.deepEqual(handler.errors, [])
    await say('HTTP/1.1 200 OK\r\na: b\r\n')
    await clock.advance(10)
    await settle()
    assert.equal(handler.error?.name, 'HeadersTimeoutError')
  })

  test('a slow source of the request body is not the fault of the server', async (t) => {
    const { clock, client, settle, say } = start(t, { headersTimeout: 100 })
    const body = new Readable({ read() {} })
    body.push('a')
    const handler = send(client, { method: 'POST', body })
    await settle()
    await clock.advance(1000)
    body.push('b')
    await settle()
    await clock.advance(1000)
    assert.deepEqual(handler.errors, [])
    body.push(null)
    await settle()
    await clock.advance(90)
    assert.deepEqual(handler.errors, [])
    await say(OK)
    assert.equal(handler.body, 'ok')
  })

  for (const headers of [{}, { 'content-length': '1' }]) {
    test(`it begins when the body is out (${Object.keys(headers)[0] ?? 'chunked'})`, async (t) => {
      const { clock, client, settle } = start(t, { headersTimeout: 100 })
      const body = new Readable({ read() {} })
      body.push('a')
      const handler = send(client, { method: 'POST', body, headers })
      await settle()
      await clock.advance(1000)
      await clock.advance(50)
      body.push(null)
      await settle()
      await clock.advance(99)
      assert.deepEqual(handler.errors, [])
      await clock.advance(1)
      await settle()
      assert.equal(handler.error?.name, 'HeadersTimeoutError')
    })
  }

  test('a server that does not read is at fault', async (t) => {
    const { clock, client, sockets, settle } = start(t, { headersTimeout: 100 })
    const body = new Readable({ read() {} })
    const handler = send(client, { method: 'POST', body })
    await settle()
    sockets[0]!.held = true
    body.push(Buffer.alloc(200_000))
    await settle()
    await clock.advance(100)
    await settle()
    assert.equal(handler.error?.name, 'HeadersTimeoutError')
  })

  test('progress against backpressure starts it anew', async (t) => {
    const { clock, client, sockets, settle } = start(t, { headersTimeout: 100 })
    const body = new Readable({ read() {} })
    const handler = send(client, { method: 'POST', body })
    await settle()
    for (let i = 0; i < 5; i++) {
      sockets[0]!.held = true
      body.push(Buffer.alloc(100_000))
      await settle()
      await clock.advance(90)
      sockets[0]!.release()
      await settle()
    }
    assert.deepEqual(handler.errors, [])
    sockets[0]!.held = true
    body.push(Buffer.alloc(100_000))
    await settle()
    await clock.advance(100)
    await settle()
    assert.equal(handler.error?.name, 'HeadersTimeoutError')
  })

  test('each pipelined request has its time when it is the first in line', async (t) => {
    const { clock, client, settle, say } = start(t, { pipelining: 2, headersTimeout: 100 })
    const first = send(client, { blocking: false })
    const second = send(client, { blocking: false })
    await settle()
    await clock.advance(90)
    await say(OK)
    assert.equal(first.body, 'ok')
    await clock.advance(99)
    assert.deepEqual(second.errors, [])
    await clock.advance(1)
    await settle()
    assert.equal(second.error?.name, 'HeadersTimeoutError')
  })

  test('what arrived while the process was blocked is not late', async (t) => {
    const { clock, client, sockets, settle } = start(t, { headersTimeout: 100 })
    const handler = send(client)
    await settle()
    clock.jump(5000)
    sockets[0]!.say(OK)
    await settle()
    assert.deepEqual([handler.body, handler.errors], ['ok', []])
  })

  test('close() waits for a hanging request until it times out', async (t) => {
    const { clock, client, settle } = start(t, { headersTimeout: 100 })
    const handler = send(client)
    await settle()
    const closing = client.close()
    await clock.advance(100)
    await closing
    assert.equal(handler.error?.name, 'HeadersTimeoutError')
  })
})

describe('bodyTimeout', () => {
  test('fails the body, destroys the socket, and the next request goes on', async (t) => {
    const { clock, client, sockets, settle, say } = start(t, { bodyTimeout: 1000 })
    const late = send(client)
    const next = send(client)
    await settle()
    await say(HEAD)
    await clock.advance(999)
    assert.deepEqual(late.errors, [])
    await clock.advance(1)
    await settle()
    assert.equal(late.error?.name, 'BodyTimeoutError')
    assert.equal((late.error as { code?: string }).code, 'UND_ERR_BODY_TIMEOUT')
    assert.match(late.error!.message, /^Body Timeout Error/)
    assert.equal(sockets[0]!.destroyed, true)
    await say(OK)
    assert.equal(next.body, 'ok')
  })

  for (const timeout of [1, 100, 1000]) {
    test(`of ${timeout} ms fires within 10 % + 50 ms, and not early`, async (t) => {
      const { clock, client, settle, say } = start(t, { bodyTimeout: timeout })
      const handler = send(client)
      await settle()
      await say(HEAD)
      const took = await timeToSettle(clock, handler, 5000)
      assert.ok(took >= timeout && took <= timeout * 1.1 + 50, `${took} ms`)
    })
  }

  test('each piece starts it anew', async (t) => {
    const { clock, client, settle, say } = start(t, { bodyTimeout: 100 })
    const handler = send(client)
    await settle()
    await say(HEAD)
    for (let i = 0; i < 9; i++) {
      await clock.advance(90)
      await say('x')
    }
    assert.deepEqual(handler.errors, [])
    await clock.advance(100)
    await settle()
    assert.equal(handler.error?.name, 'BodyTimeoutError')
  })

  test('the value of a request wins, 0 disables', async (t) => {
    const { clock, client, settle, say } = start(t, { bodyTimeout: 100 })
    const endless = send(client, { bodyTimeout: 0 })
    await settle()
    await say(HEAD)
    await clock.advance(1e9)
    await say('0123456789')
    assert.equal(endless.body, '0123456789')
    const short = send(client, { bodyTimeout: 10 })
    await settle()
    await say(HEAD)
    await clock.advance(10)
    await settle()
    assert.equal(short.error?.name, 'BodyTimeoutError')
  })

  test('a consumer that pauses is exempt; its time begins when it resumes', async (t) => {
    const { clock, client, settle, say } = start(t, { bodyTimeout: 100 })
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onResponseStart') controller!.pause()
    })
    await settle()
    await say(HEAD)
    await clock.advance(1000)
    assert.deepEqual(handler.errors, [])
    handler.controller!.resume()
    await clock.advance(99)
    assert.deepEqual(handler.errors, [])
    await clock.advance(1)
    await settle()
    assert.equal(handler.error?.name, 'BodyTimeoutError')
  })

  test('the body of request(): unread it waits for ever, read it does not', async (t) => {
    const { clock, client, settle, say } = start(t, { bodyTimeout: 100 })
    const answer = client.request({ path: '/', method: 'GET', highWaterMark: 1 })
    await settle()
    await say(HEAD, '01234')
    const { body } = await answer
    await clock.advance(10_000)
    const text = body.text()
    await settle()
    await clock.advance(50)
    await say('56789')
    assert.equal(await text, '0123456789')
  })
})

test('the time of a body runs again after a pause in which nothing came', async (t) => {
  const { clock, client, sockets, settle } = start(t, { bodyTimeout: 100 })
  const handler = send(client)
  await settle()
  sockets[0]!.say('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhe')
  await settle()
  handler.controller!.pause()
  await clock.advance(150)
  await settle()
  assert.deepEqual(handler.errors, [])
  handler.controller!.resume()
  await clock.advance(100)
  await settle()
  assert.equal(handler.error?.name, 'BodyTimeoutError')
})

test('the connect timeout fails what waits', async (t) => {
  // A server that never accepts its backlog would depend on timing; one that never speaks TLS does not.
  const server = await startScriptedServer(t)
  for (const options of [
    { connectTimeout: 200 },
    { connect: { timeout: 200 } },
    { connectTimeout: 60e3, connect: { timeout: 200 } },
  ]) {
    const client = new Client(`https://127.0.0.1:${server.port}`, options)
    t.after(() => client.destroy())
    const start = performance.now()
    const handlers = [send(client), send(client)]
    // The client's timers do not keep the process alive.
    const alive = setInterval(() => {}, 1000)
    await Promise.all(handlers.map((handler) => handler.settled))
    clearInterval(alive)
    assert.ok(performance.now() - start >= 195, 'it waited for its time')
    for (const { error } of handlers) {
      assert.equal(error?.name, 'ConnectTimeoutError')
      assert.match(
        error!.message,
        new RegExp(
          `^Connect Timeout Error \\(attempted address(es)?: 127\\.0\\.0\\.1:${server.port}, timeout: 200ms\\)`,
        ),
      )
    }
  }
})

describe('a client does not keep the process alive', () => {
  const library = sourceUrl('src/index.ts')
  const cases = {
    'when it is idle on a kept connection': `
      const { statusCode, body } = await client.request({ path: '/', method: 'GET' })
      console.log(statusCode, await body.text())`,
    'after a server that cannot be reached': `
      const gone = new Client('http://127.0.0.1:1')
      await gone.request({ path: '/', method: 'GET' }).catch((error) => console.log(error.code))`,
    'after a timeout': `
      await client.request({ path: '/hang', method: 'GET', headersTimeout: 20 }).catch((error) => console.log(error.code))`,
  }
  for (const [title, script] of Object.entries(cases)) {
    test(title, async (t) => {
      const server = await startScriptedServer(t)
      void server.accept().then(async (connection) => {
        if (/^GET \/ /.test(await connection.head())) connection.send(OK)
      })
      const child = spawn(
        process.execPath,
        [
          ...sourceLoader,
          '--input-type=module',
          '-e',
          `import { Client } from ${JSON.stringify(library)}
           const client = new Client(${JSON.stringify(server.url)}, { keepAliveTimeout: 600e3 })
           ${script}`,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      let output = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
      const [code] = await once(child, 'exit')
      assert.equal(code, 0)
      assert.match(output, /200 ok|ECONNREFUSED|UND_ERR_HEADERS_TIMEOUT/)
    })
  }
})
