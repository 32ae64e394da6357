/** What stands between a program and a connection: nothing leaks, nothing is put together wrongly, nothing grows without end. */
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Agent, type CacheOptions, errors, fetch, interceptors } from '../../src/index.ts'
import { type Listener, startOrigin, WIRES } from '../support/wire.ts'

const H1 = WIRES[0]!

function agentFor(t: TestContext): Agent {
  const agent = new Agent()
  t.after(() => agent.destroy())
  return agent
}

test('CVE-2022-31151, CVE-2023-45143, CVE-2024-24758, CVE-2024-30260: credentials stay with their origin', async (t) => {
  const seen: IncomingHttpHeaders[] = []
  const elsewhere = await startOrigin(t, H1, (request, response) => {
    seen.push(request.headers)
    response.end()
  })
  const here = await startOrigin(t, H1, (_request, response) => {
    response.writeHead(307, { location: elsewhere.url }).end()
  })
  const agent = agentFor(t)
  const secrets = { authorization: 'a', cookie: 'b=c', 'proxy-authorization': 'd' }
  const headers = { ...secrets, host: 'here.test', 'x-own': 'kept' }
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: 1 }))
  const { body } = await dispatcher.request({ origin: here.url, path: '/', method: 'GET', headers })
  await body.dump()
  await (await fetch(here.url, { dispatcher: agent, headers: { authorization: 'a', cookie: 'b=c' } })).text()
  assert.equal(seen.length, 2)
  for (const received of seen) {
    for (const name of Object.keys(secrets)) assert.equal(received[name], undefined, name)
    assert.equal(received.host, new URL(elsewhere.url).host)
  }
  assert.equal(seen[0]!['x-own'], 'kept')
})

describe('CVE-2026-16728: the parts of a resumed body are those of one body', () => {
  const whole = { etag: '"1"', 'content-length': '10' }
  const rows: [what: string, headers: Record<string, string>, rest: string][] = [
    ['another total', { etag: '"1"', 'content-range': 'bytes 5-9/12' }, 'world'],
    ['another length than the range', { etag: '"1"', 'content-range': 'bytes 5-9/10' }, 'wor'],
    ['another start', { etag: '"1"', 'content-range': 'bytes 4-9/10' }, 'oworld'],
    ['another version', { etag: '"2"', 'content-range': 'bytes 5-9/10' }, 'world'],
    ['no version', { 'content-range': 'bytes 5-9/10' }, 'world'],
    ['no range', { etag: '"1"' }, 'world'],
  ]

  async function resumed(t: TestContext, headers: Record<string, string>, rest: string): Promise<string> {
    let count = 0
    const origin = await startOrigin(t, H1, (_request, response) => {
      if (count++ > 0) return void response.writeHead(206, headers).end(rest)
      response.writeHead(200, whole).write('hello', () => response.destroy())
    })
    const retry = interceptors.retry({ maxRetries: 2, minTimeout: 1, maxTimeout: 1 })
    const { body } = await agentFor(t)
      .compose(retry)
      .request({ origin: origin.url, path: '/', method: 'GET' })
    const text = await body.text()
    assert.ok(count > 1)
    return text
  }

  test('the right part completes it', async (t) => {
    assert.equal(await resumed(t, { etag: '"1"', 'content-range': 'bytes 5-9/10' }, 'world'), 'helloworld')
  })

  for (const [what, headers, rest] of rows) {
    test(`a part with ${what} fails the body`, async (t) => {
      await assert.rejects(resumed(t, headers, rest), Error)
    })
  }
})

test('CVE-2026-2581: of a shared body no more is kept than the limit, for the caller who does not read', async (t) => {
  const origin = await startOrigin(t, H1, (_request, response) => response.end(Buffer.alloc(1 << 20)))
  const agent = agentFor(t).compose(interceptors.deduplicate({ maxBufferSize: 1 << 16 }))
  const opts = { origin: origin.url, path: '/', method: 'GET' } as const
  const [reader, sleeper] = await Promise.all([agent.request(opts), agent.request(opts)])
  const failed = new Promise<Error>((resolve) => sleeper.body.on('error', resolve))
  assert.equal((await reader.body.arrayBuffer()).byteLength, 1 << 20)
  assert.match((await failed).message, /exceeded maxBufferSize \(65536 bytes\) while paused/)
})

describe('CVE-2026-9678, CVE-2026-14643, CVE-2026-13697: Cache-Control that cannot be read permits nothing', () => {
  async function pagesOf(
    t: TestContext,
    control: string | string[],
    options: CacheOptions,
  ): Promise<string[]> {
    const page: Listener = (request, response) => {
      response.setHeader('cache-control', control).end(request.headers.authorization)
    }
    const origin = await startOrigin(t, H1, page)
    const agent = agentFor(t).compose(interceptors.cache(options))
    const pages = []
    for (const authorization of ['alice', 'bob']) {
      const opts = { origin: origin.url, path: '/', method: 'GET', headers: { authorization } } as const
      pages.push(await (await agent.request(opts)).body.text())
    }
    return pages
  }

  test('a page that may be shared is', async (t) => {
    assert.deepEqual(await pagesOf(t, 'public, max-age=60', { type: 'shared' }), ['alice', 'alice'])
  })

  for (const control of [
    'private \t, max-age=60',
    'max-age=60 , private',
    'public max-age=60',
    'public;max-age=60',
    'public=, max-age=60',
    'public="x, max-age=60',
    'max-age=60, private="a',
    'max-age=60, s-maxage',
    'max-age=60, must-revalidate=',
    'public, max-age=60, no-cache="',
    ['public, max-age=60', 'x="', 'no-store'],
    ',,=,;"',
    'public, max-age=60, "',
    'public, max-age=60, x y',
    'public, max-age=60, =private-ish',
    'public, max-age=60, __proto__, constructor=x, no-store',
  ]) {
    test(`two users get their own pages: ${JSON.stringify(control)}`, async (t) => {
      assert.deepEqual(await pagesOf(t, control, { type: 'shared' }), ['alice', 'bob'])
    })
  }
})

describe('CVE-2026-22036: codings without end', () => {
  /** A body with so many codings, in one field or in one for each. */
  async function coded(t: TestContext, count: number, isSplit: boolean): Promise<string> {
    let content = Buffer.from('x')
    for (let i = 0; i < count; i++) content = gzipSync(content)
    const names = Array<string>(count).fill('gzip')
    const origin = await startOrigin(t, H1, (_request, response) => {
      response.setHeader('content-encoding', isSplit ? names : names.join(', ')).end(content)
    })
    return origin.url
  }

  for (const isSplit of [false, true]) {
    const how = isSplit ? 'in fields of their own' : 'in one field'
    test(`five are decoded, six fail, ${how}`, async (t) => {
      const agent = agentFor(t)
      const decoding = agent.compose(interceptors.decompress())
      const read = async (origin: string): Promise<string> =>
        (await decoding.request({ origin, path: '/', method: 'GET' })).body.text()
      const five = await coded(t, 5, isSplit)
      assert.equal(await read(five), 'x')
      assert.equal(await (await fetch(five, { dispatcher: agent })).text(), 'x')
      const six = await coded(t, 6, isSplit)
      await assert.rejects(read(six), /too many content-encodings in response: 6, maximum allowed is 5/)
      await assert.rejects(
        fetch(six, { dispatcher: agent }).then((response) => response.text()),
        TypeError,
      )
    })
  }

  test('a body that expands a thousandfold fails before it is all there', async (t) => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(1 << 26)))
    const origin = await startOrigin(t, H1, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(bomb)
    })
    const agent = agentFor(t).compose(interceptors.decompress())
    let length = 0
    const { body } = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
    await assert.rejects(async () => {
      for await (const chunk of body) length += (chunk as Buffer).length
    }, errors.ResponseExceededMaxSizeError)
    assert.ok(length < 1 << 25, `${length} bytes were delivered`)
  })
})
