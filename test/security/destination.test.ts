/** A request goes to its intended origin, whatever its path, a redirect or the environment contains. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import {
  Agent,
  buildConnector,
  Client,
  errors,
  fetch,
  H2CClient,
  Pool,
  request,
  WebSocket,
} from '../../src/index.ts'
import { startH2Server } from '../support/h2-server.ts'
import { OK } from '../support/scripted-client.ts'
import { startScriptedServer } from '../support/scripted-server.ts'

describe('CVE-2022-35949, axios CVE-2025-27152, CVE-2024-39338: a path that looks like another origin', () => {
  const PATHS = [
    '//evil.test/a',
    '///evil.test',
    '/\\evil.test',
    '/@evil.test',
    'http://evil.test/a',
    'https://evil.test:1/',
  ]

  test('goes to the origin of the client as it is, over h1', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const host = `127.0.0.1:${server.port}`
    let connection: Awaited<ReturnType<typeof server.accept>> | null = null
    for (const path of PATHS) {
      const asked = client.request({ path, method: 'GET', origin: 'http://evil.test' })
      connection ??= await server.accept()
      assert.equal(
        await connection.head(),
        `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n\r\n`,
      )
      connection.send(OK)
      await (await asked).body.text()
    }
    assert.equal(server.count, 1)
  })

  test('goes to the origin of the client as it is, over h2', async (t) => {
    const server = await startH2Server(t)
    const client = new H2CClient(server.url)
    t.after(() => client.destroy())
    const asked = PATHS.map((path) => client.request({ path, method: 'GET' }))
    const peer = await server.accept()
    for (const path of PATHS) {
      const { id, headers } = await peer.request()
      assert.deepEqual([headers[':authority'], headers[':path']], [`localhost:${server.port}`, path])
      peer.respond(id)
    }
    for (const { body } of await Promise.all(asked)) await body.text()
    assert.equal(server.count, 1)
  })

  test('goes to the origin of the URL when it is given beside one', async (t) => {
    const server = await startScriptedServer(t)
    const dispatcher = new Agent()
    t.after(() => dispatcher.destroy())
    for (const path of ['//evil.test/a', 'http://evil.test/a', 'evil.test']) {
      const asked = request(server.url, { path, dispatcher, reset: true })
      const connection = await server.accept()
      const written = path.startsWith('/') ? path : `/${path}`
      assert.ok(
        (await connection.head()).startsWith(`GET ${written} HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\n`),
      )
      connection.end(OK)
      await (await asked).body.text()
    }
  })

  test('is refused when it does not begin like a path or a URL', async (t) => {
    const client = new Client('http://127.0.0.1:1')
    t.after(() => client.destroy())
    for (const path of [
      '',
      'evil.test',
      '@evil.test/',
      '\\\\evil.test',
      '?a',
      '#a',
      'file:///etc',
      'ftp://evil.test',
    ]) {
      await assert.rejects(client.request({ path, method: 'GET' }), errors.InvalidArgumentError)
    }
  })
})

describe('follow-redirects CVE-2023-26159: one reading of URLs', () => {
  test('the host is the one that WHATWG sees, or there is none', () => {
    for (const url of [
      'http://good.test\\@evil.test',
      'http://good.test/@evil.test',
      'http://good.test#@evil.test',
      'http://good.test?@evil.test',
      { protocol: 'http:', hostname: 'good.test@evil.test' },
      { protocol: 'http:', hostname: 'good.test/evil.test' },
      { protocol: 'http:', hostname: 'good.test\\evil.test' },
      { origin: 'http://good.test', path: '/elsewhere' },
      'file:///etc/passwd',
      'unix:/run/x.sock',
      'javascript:alert(1)',
    ]) {
      assert.throws(() => new Client(url), errors.InvalidArgumentError, JSON.stringify(url))
      assert.throws(() => new Pool(url as string), errors.InvalidArgumentError, JSON.stringify(url))
    }
    assert.throws(() => new WebSocket('file:///etc/passwd'), { name: 'SyntaxError' })
  })

  test('an Agent takes an origin and nothing more', async (t) => {
    const agent = new Agent()
    t.after(() => agent.destroy())
    for (const origin of ['http://good.test\\@evil.test', 'http://good.test/a', 'unix:/run/x.sock']) {
      await assert.rejects(agent.request({ origin, path: '/', method: 'GET' }), errors.InvalidArgumentError)
    }
    assert.deepEqual(agent.stats, {})
  })
})

describe('CVE-2026-48930: NUL and other controls in a host name', () => {
  test('no URL has them', () => {
    for (const host of ['good.test\0.evil.test', 'good.test%00.evil.test', 'good.test\x7f', 'good test']) {
      assert.throws(() => new Client(`http://${host}`))
      assert.throws(() => new Client({ protocol: 'http:', hostname: host }))
      assert.throws(() => new WebSocket(`ws://${host}`), { name: 'SyntaxError' })
    }
  })

  test('a connector does not resolve them', async () => {
    const connector = buildConnector({ lookup: () => assert.fail('resolved') })
    for (const hostname of ['good.test\0.evil.test', 'good.test\r\n', 'good test', '\x7f']) {
      const error = await new Promise<Error | null>((resolve) => {
        connector({ hostname, protocol: 'http:', port: 1 }, (...args) => resolve(args[0]))
      })
      assert.ok(error instanceof errors.InvalidArgumentError)
    }
  })
})

describe('CVE-2026-6734: connections of one origin do not carry requests to another', () => {
  test('each origin of an Agent has its own', async (t) => {
    const [one, two] = [await startScriptedServer(t), await startScriptedServer(t)]
    const agent = new Agent()
    t.after(() => agent.destroy())
    // The same server under two names, and two servers under one.
    for (const [server, name] of [
      [one, '127.0.0.1'],
      [one, 'localhost'],
      [two, '127.0.0.1'],
    ] as const) {
      const asked = agent.request({ origin: `http://${name}:${server.port}`, path: '/', method: 'GET' })
      const connection = await server.accept()
      assert.match(await connection.head(), new RegExp(`\\r\\nhost: ${name}:${server.port}\\r\\n`))
      connection.send(OK)
      await (await asked).body.text()
    }
    assert.deepEqual([one.count, two.count], [2, 1])
  })
})

interface Visit {
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
}

/** A server that redirects `/to?<url>` and answers everything else. */
async function redirecting(t: TestContext): Promise<{ url: string; visits: Visit[] }> {
  const visits: Visit[] = []
  const server = http.createServer((request, response) => {
    visits.push({ url: request.url!, headers: request.headers })
    if (!request.url!.startsWith('/to?')) {
      response.end('here')
      return
    }
    response.writeHead(302, { location: decodeURIComponent(request.url!.slice(4)) }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, visits }
}

const SECRETS = {
  authorization: 'Basic c2VjcmV0',
  cookie: 'id=secret',
  'proxy-authorization': 'Basic c2VjcmV0',
}

describe('redirects', () => {
  test('CVE-2022-0155, CVE-2022-0536, CVE-2022-31151, CVE-2023-45143, CVE-2024-24758, CVE-2024-28849, CVE-2024-30260, CVE-2026-40895, axios GHSA-j5f8: request() follows none', async (t) => {
    const [here, there] = [await redirecting(t), await redirecting(t)]
    const agent = new Agent()
    t.after(() => agent.destroy())
    const path = `/to?${encodeURIComponent(there.url)}`
    const { statusCode, headers, body } = await agent.request({
      origin: here.url,
      path,
      method: 'GET',
      headers: SECRETS,
    })
    await body.text()
    assert.deepEqual([statusCode, headers['location']], [302, there.url])
    assert.equal(there.visits.length, 0)
    await assert.rejects(
      agent.request({ origin: here.url, path, method: 'GET', maxRedirections: 3 }),
      errors.InvalidArgumentError,
    )
  })

  test('the same rows: fetch() leaves credentials behind when the origin changes, and keeps them when not', async (t) => {
    const [here, there] = [await redirecting(t), await redirecting(t)]
    const dispatcher = new Agent()
    t.after(() => dispatcher.destroy())
    const follow = async (to: string): Promise<string> =>
      (await fetch(`${here.url}/to?${encodeURIComponent(to)}`, { dispatcher, headers: SECRETS })).text()
    assert.equal(await follow(`${there.url}/other`), 'here')
    assert.equal(await follow(`${here.url}/same`), 'here')
    const [other] = there.visits
    for (const name of Object.keys(SECRETS)) assert.equal(other?.headers[name], undefined, name)
    assert.equal(here.visits.at(-1)?.headers.authorization, SECRETS.authorization)
  })

  test('got CVE-2022-33987: a redirect leads to http and https only', async (t) => {
    const here = await redirecting(t)
    const dispatcher = new Agent()
    t.after(() => dispatcher.destroy())
    for (const to of ['unix:/run/x.sock:/', 'http+unix://run/', 'file:///etc/passwd', 'ftp://evil.test/']) {
      await assert.rejects(fetch(`${here.url}/to?${encodeURIComponent(to)}`, { dispatcher }), TypeError)
    }
  })
})

test('CVE-2024-30261: fetch() on these dispatchers checks integrity', async (t) => {
  const here = await redirecting(t)
  const dispatcher = new Agent()
  t.after(() => dispatcher.destroy())
  const digest = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`
  const right = await fetch(here.url, { dispatcher, integrity: digest('here') })
  assert.equal(await right.text(), 'here')
  await assert.rejects(fetch(here.url, { dispatcher, integrity: digest('elsewhere') }), TypeError)
})

test('axios CVE-2025-62718, GHSA-pmwg, GHSA-m7pr: proxies of the environment are not used, so none can be bypassed', async (t) => {
  const [origin, proxy] = [await startScriptedServer(t), await startScriptedServer(t)]
  const before = { ...process.env }
  t.after(() => {
    process.env = before
  })
  for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY'])
    process.env[name] = proxy.url
  const dispatcher = new Agent()
  t.after(() => dispatcher.destroy())
  const asked = request(origin.url, { dispatcher })
  const connection = await origin.accept()
  assert.match(await connection.head(), /^GET \/ HTTP\/1\.1\r\n/)
  connection.send(OK)
  await (await asked).body.text()
  assert.equal(proxy.count, 0)
})
