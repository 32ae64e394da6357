import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Agent, CookieJar, type Interceptor, interceptors, request } from '../../src/index.ts'
import { eventually } from '../support/fake-clock.ts'

const RELAYS: Readonly<Record<string, () => Interceptor>> = {
  decompress: () => interceptors.decompress(),
  retry: () => interceptors.retry(),
  redirect: () => interceptors.redirect({ maxRedirections: 3 }),
  deduplicate: () => interceptors.deduplicate(),
  dump: () => interceptors.dump(),
  hedge: () => interceptors.hedge({ delay: 10_000 }),
  throttle: () => interceptors.throttle({ concurrency: 1 }),
  auth: () => interceptors.auth({ bearer: () => 't', origins: () => true }),
  'circuit breaker': () => interceptors.circuitBreaker(),
}

/** An origin that sets a session, which its users end by another way than a response. */
async function session(t: TestContext): Promise<string> {
  const server = http.createServer((_request, response) => {
    response.writeHead(200, {
      'cache-control': 'private, max-age=600',
      'content-encoding': 'gzip',
      'set-cookie': 'session=alive; Path=/',
    })
    response.end(gzipSync('page'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function cookiesAfterReuse(t: TestContext, between: readonly Interceptor[]): Promise<string> {
  const url = await session(t)
  const jar = new CookieJar()
  const agent = new Agent()
  t.after(() => agent.destroy())
  const dispatcher = agent.compose([
    interceptors.cache({ type: 'private' }),
    ...between,
    interceptors.cookies({ jar }),
  ])
  await (await request(url, { dispatcher })).body.dump()
  assert.match(jar.getCookieHeader(url), /session=alive/)
  jar.clear()
  await (await request(url, { dispatcher })).body.dump()
  return jar.getCookieHeader(url)
}

describe('the cookies of a stored response', () => {
  for (const [name, make] of Object.entries(RELAYS)) {
    it(`are not set again through ${name}`, async (t) => {
      assert.equal(await cookiesAfterReuse(t, [make()]), '')
    })

    for (const [other, makeOther] of Object.entries(RELAYS)) {
      if (other === name) continue
      it(`are not set again through ${name} and ${other}`, async (t) => {
        assert.equal(await cookiesAfterReuse(t, [make(), makeOther()]), '')
      })
    }
  }
})

it('a confirmation sets no cookies of the stored response again, also not for those who waited for it', async (t) => {
  let asked = 0
  let answer: (() => void) | null = null
  const server = http.createServer((incoming, response) => {
    asked++
    if (incoming.headers['if-none-match'] === undefined) {
      const headers = {
        'cache-control': 'private, max-age=0',
        etag: '"1"',
        'set-cookie': 'session=alive; Path=/',
      }
      response.writeHead(200, headers).end('page')
    } else answer = () => void response.writeHead(304, { etag: '"1"' }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const jars = [new CookieJar(), new CookieJar(), new CookieJar()]
  const agent = new Agent()
  t.after(() => agent.destroy())
  const cached = agent.compose(interceptors.cache({ type: 'private', collapse: true }))
  const text = async (jar: CookieJar): Promise<string> =>
    (await request(url, { dispatcher: cached.compose(interceptors.cookies({ jar })) })).body.text()
  await text(jars[0]!)
  assert.match(jars[0]!.getCookieHeader(url), /session=alive/)
  jars[0]!.clear()
  const texts = jars.map(text)
  await eventually(() => answer !== null)
  answer!()
  assert.deepEqual(await Promise.all(texts), ['page', 'page', 'page'])
  assert.equal(asked, 2)
  assert.deepEqual(
    jars.map((jar) => jar.getCookieHeader(url)),
    ['', '', ''],
  )
})
