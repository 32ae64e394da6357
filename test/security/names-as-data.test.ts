/** Names that others choose, and that every object has: each is a name like any other, wherever one can come in. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import {
  Agent,
  CookieJar,
  type Dispatcher,
  FormData,
  fetch,
  getCookies,
  Headers,
  interceptors,
  MockAgent,
  ProxyAgent,
  parseMIMEType,
  Request,
  Response,
  request,
  util,
} from '../../src/index.ts'
import { startProxy } from '../proxy/support/test-proxy.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

const NAMES = ['__proto__', 'constructor', 'hasownproperty', 'tostring', 'valueof'] as const

/** An object of a caller: JSON.parse makes own properties of all names. */
function record(value: (name: string) => unknown): Record<string, never> {
  return JSON.parse(`{${NAMES.map((name) => `"${name}":${JSON.stringify(value(name))}`).join()}}`)
}

/** What an object has as its own, and that it has nothing else. */
function own(object: object): [string, unknown][] {
  assert.ok([null, Object.prototype].includes(Object.getPrototypeOf(object)))
  return NAMES.map((name) => [name, Object.getOwnPropertyDescriptor(object, name)?.value])
}

const EACH = NAMES.map((name) => [name, `v-${name}`])
const FLAT = EACH.flat() as string[]

overEachWire('names that every object has', (wire) => {
  test('are names of headers, trailers and parameters', async (t) => {
    const origin = await startOrigin(t, wire, (asked, response) => {
      const seen: unknown[] = []
      for (let i = 0; i < asked.rawHeaders.length; i += 2) {
        if (NAMES.includes(asked.rawHeaders[i] as never)) seen.push(asked.rawHeaders.slice(i, i + 2))
      }
      const fields = Object.fromEntries(EACH)
      response.writeHead(200, {
        ...fields,
        trailer: NAMES.join(),
        'x-seen': JSON.stringify([asked.url, seen]),
      })
      response.write('x')
      response.addTrailers(fields as never)
      response.end()
    })
    const client = origin.client()
    for (const headers of [record((name) => `v-${name}`), FLAT, new Map(EACH as [string, string][])]) {
      const answer = await client.request({
        path: '/',
        method: 'GET',
        query: record((name) => `q-${name}`),
        headers: headers as never,
      })
      await answer.body.text()
      const [url, seen] = JSON.parse(String(answer.headers['x-seen']))
      assert.deepEqual(seen, EACH)
      assert.equal(url, `/?${NAMES.map((name) => `${name}=q-${name}`).join('&')}`)
      assert.deepEqual(own(answer.headers), EACH)
      assert.deepEqual(own(answer.trailers), EACH)
    }
    const response = await fetch(origin.url, { headers: record((name) => `v-${name}`), dispatcher: client })
    assert.deepEqual(JSON.parse(response.headers.get('x-seen')!)[1], EACH)
    for (const [name, value] of EACH) assert.equal(response.headers.get(name!), value)
  })
})

describe('names that every object has', () => {
  test('are names of Headers, also where they are shown', () => {
    for (const init of [record((name) => `v-${name}`), EACH as [string, string][]]) {
      const headers = new Headers(init)
      for (const [name, value] of EACH) assert.equal(headers.get(name!), value)
      const shown = inspect(headers)
      for (const [name, value] of EACH) assert.ok(shown.includes(name!) && shown.includes(value!), shown)
    }
  })

  test('are names of forms', async () => {
    const form = new FormData()
    for (const [name, value] of EACH) form.append(name!, value!)
    const url = 'http://127.0.0.1'
    for (const body of [form, new URLSearchParams(EACH as [string, string][])]) {
      const read = await new Request(url, { method: 'POST', body }).formData()
      assert.deepEqual([...read], EACH)
      assert.deepEqual([...(await new Response(body).formData())], EACH)
    }
    const shown = inspect(form)
    for (const [, value] of EACH) assert.ok(shown.includes(value!), shown)
  })

  test('are names of cookies', () => {
    const text = EACH.map((pair) => pair.join('=')).join('; ')
    assert.deepEqual(own(getCookies(new Headers({ cookie: text }))), EACH)
    const jar = new CookieJar()
    for (const pair of EACH) jar.setCookie(pair.join('='), 'http://a.test/')
    assert.equal(jar.getCookieHeader('http://a.test/'), text)
  })

  test('are names of the parameters of a media type', () => {
    const type = parseMIMEType(`text/plain;${EACH.map((pair) => pair.join('=')).join(';')}`)
    assert.ok(type !== 'failure')
    assert.deepEqual([...type.parameters], EACH)
  })

  test('are names in the helpers for lists of fields', () => {
    const bytes = FLAT.map((part) => Buffer.from(part))
    assert.deepEqual(own(util.parseHeaders(bytes)), EACH)
  })

  test('are names for a mock: of queries, headers, replies and trailers', async () => {
    const agent = new MockAgent({ enableCallHistory: true })
    agent.disableNetConnect()
    const fields = record((name) => `v-${name}`)
    const pool = agent.get('http://a.test')
    pool
      .intercept({ path: '/', query: fields, headers: fields })
      .reply(200, 'x', { headers: fields, trailers: fields })
      .persist()
    const given = { origin: 'http://a.test', path: '/', method: 'GET', query: fields } as const
    const answer = await agent.request({ ...given, headers: fields })
    await answer.body.text()
    assert.deepEqual([own(answer.headers), own(answer.trailers)], [EACH, EACH])
    assert.deepEqual(own(agent.getCallHistory()!.lastCall()!.searchParams), EACH)
    // Nothing that an object inherits stands for a field that is absent.
    await assert.rejects(agent.request(given), { code: 'UND_MOCK_ERR_MOCK_NOT_MATCHED' })
    await agent.close()
  })

  test('are names of fields that a stored response depends on, and unknown directives', async (t) => {
    let count = 0
    const { client, url } = await serve(t, (_request, response) => {
      response.writeHead(200, {
        vary: NAMES.join(),
        'cache-control': `max-age=60, ${NAMES.join('=1, ')}`,
      })
      response.end(String(++count))
    })
    const caching = client.compose(interceptors.cache())
    const get = async (headers: object): Promise<string> =>
      (
        await caching.request({ origin: url, path: '/', method: 'GET', headers: headers as never })
      ).body.text()
    assert.equal(await get({}), '1')
    assert.equal(await get({}), '1')
    for (const [i, [name, value]] of EACH.entries()) {
      const headers = JSON.parse(`{"${name}":"${value}"}`)
      assert.equal(await get(headers), String(i + 2))
      assert.equal(await get(headers), String(i + 2))
    }
    assert.equal(await get({}), '1')
  })

  test('are names of the headers of a proxy, as the channel shows them', async (t) => {
    const { url } = await serve(t, (_request, response) => response.end('x'))
    const proxy = await startProxy(t, 'h1')
    const messages: { connectParams: { headers: object } }[] = []
    const subscriber = (message: unknown): void => void messages.push(message as never)
    subscribe('undici:proxy:connected', subscriber)
    const agent = new ProxyAgent({
      uri: proxy.url,
      proxyTunnel: true,
      headers: record((name) => `v-${name}`),
    })
    t.after(() => agent.close())
    const { body } = await request(url, { dispatcher: agent })
    await body.text()
    unsubscribe('undici:proxy:connected', subscriber)
    assert.deepEqual(own(messages[0]!.connectParams.headers), EACH)
  })
})

async function serve(
  t: TestContext,
  listener: http.RequestListener,
): Promise<{ readonly client: Dispatcher; readonly url: string }> {
  const server = http.createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = new Agent()
  t.after(async () => {
    await client.close()
    server.close()
  })
  return { client, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
