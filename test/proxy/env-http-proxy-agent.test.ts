/** EnvHttpProxyAgent: which way requests take, and what it says about that. The table of variables is with proxy-environment. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { EnvHttpProxyAgent, errors } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { echo, readEcho } from '../support/exchange.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { startProxy } from './support/test-proxy.ts'

type TestContext = import('node:test').TestContext

const H1 = WIRES[0]!
const H1_TLS = WIRES[1]!
const GET = { path: '/', method: 'GET' } as const
const NAMES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
])

/** Sets the variables for a test; all others about proxies are unset. */
function setVariables(t: TestContext, variables: Record<string, string>): void {
  const before = NAMES.map((name) => [name, process.env[name]] as const)
  const put = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  for (const name of NAMES) put(name, variables[name])
  t.after(() => {
    for (const [name, value] of before) put(name, value)
  })
}

describe('EnvHttpProxyAgent', () => {
  test('sends requests through the proxies of the environment', async (t) => {
    const plain = await startOrigin(t, H1, echo)
    const secure = await startOrigin(t, H1_TLS, echo)
    const one = await startProxy(t, 'h1')
    const two = await startProxy(t, 'h1')
    setVariables(t, { http_proxy: one.url, HTTPS_PROXY: two.url })
    const agent = new EnvHttpProxyAgent({ requestTls: { ca: authority } })
    t.after(() => agent.destroy())
    await readEcho(await agent.request({ ...GET, origin: `http://a.example.test:${plain.port}` }))
    await readEcho(await agent.request({ ...GET, origin: `https://a.example.test:${secure.port}` }))
    assert.deepEqual([one.forwards.length, one.connects.length], [1, 0])
    assert.deepEqual([two.forwards.length, two.connects.length], [0, 1])
    assert.ok(one.servedAll(plain))
    assert.ok(two.servedAll(secure))
  })

  test('takes a host and a port for an HTTP proxy', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    setVariables(t, { ALL_PROXY: `127.0.0.1:${proxy.port}` })
    const agent = new EnvHttpProxyAgent()
    t.after(() => agent.destroy())
    await readEcho(await agent.request({ ...GET, origin: `http://a.test:${origin.port}` }))
    assert.equal(proxy.forwards.length, 1)
  })

  test('goes direct without a proxy, and with requestTls for the target', async (t) => {
    const origin = await startOrigin(t, H1_TLS, echo)
    setVariables(t, {})
    const agent = new EnvHttpProxyAgent({ requestTls: { ca: authority } })
    t.after(() => agent.destroy())
    await readEcho(await agent.request({ ...GET, origin: origin.url }))
    assert.equal(origin.sockets.length, 1)
    assert.equal(agent.stats.proxy.connected, 0)
  })

  test('reads NO_PROXY with each request, and the proxies once', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    setVariables(t, { http_proxy: proxy.url })
    const agent = new EnvHttpProxyAgent()
    t.after(() => agent.destroy())
    await readEcho(await agent.request({ ...GET, origin: origin.url }))
    process.env['no_proxy'] = 'localhost'
    process.env['http_proxy'] = 'http://elsewhere.test'
    await readEcho(await agent.request({ ...GET, origin: origin.url }))
    delete process.env['no_proxy']
    await readEcho(await agent.request({ ...GET, origin: origin.url }))
    assert.equal(proxy.forwards.length, 2)
  })

  test('ignores uri and proxy among its options', async (t) => {
    setVariables(t, {})
    const options = { uri: 'http://proxy.test', proxy: () => 'http://proxy.test' }
    const agent = new EnvHttpProxyAgent(options as object)
    t.after(() => agent.destroy())
    assert.equal(agent.explain('http://a.test').proxy, null)
  })

  test('explains its way, without credentials', async (t) => {
    setVariables(t, { HTTP_PROXY: 'http://user:secret@one.test:8080', no_proxy: '.x.test,10.0.0.0/8' })
    const agent = new EnvHttpProxyAgent({ httpsProxy: 'https://two.test' })
    t.after(() => agent.destroy())
    for (const [url, expected] of [
      ['http://a.test', { proxy: 'http://one.test:8080', rule: 'HTTP_PROXY' }],
      ['ws://a.test', { proxy: 'http://one.test:8080', rule: 'HTTP_PROXY' }],
      [new URL('https://a.test/path'), { proxy: 'https://two.test', rule: 'httpsProxy' }],
      ['https://a.x.test', { proxy: null, rule: 'no_proxy: .x.test' }],
      ['http://10.1.2.3', { proxy: null, rule: 'no_proxy: 10.0.0.0/8' }],
    ] as const) {
      assert.deepEqual(agent.explain(url), expected)
    }
  })

  for (const [what, options, message] of [
    ['a noProxy that is not a string', { noProxy: 1 }, 'noProxy must be a string'],
    [
      'an httpProxy that is not a URL of a proxy',
      { httpProxy: 'ftp://a.test' },
      'Invalid URL protocol: the URL must start with `http:` or `https:`.',
    ],
    ['auth with token', { auth: 'a', token: 'b' }, 'opts.auth cannot be used in combination with opts.token'],
  ] as const) {
    test(`refuses ${what}`, () => {
      assert.throws(
        () => new EnvHttpProxyAgent(options as object),
        (error: Error) => {
          assert.ok(error instanceof errors.InvalidArgumentError)
          assert.equal(error.message, message)
          return true
        },
      )
    })
  }
})

describe('the default dispatcher', () => {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const index = new URL('../../src/index.ts', import.meta.url).href

  /** What it is in a new process. */
  function defaultOf(env: Record<string, string>, ...flags: string[]): Promise<string> {
    const program = `
      const before = Symbol.for('undici.globalDispatcher.2') in globalThis
      const { EnvHttpProxyAgent, getGlobalDispatcher } = await import(${JSON.stringify(index)})
      const after = Symbol.for('undici.globalDispatcher.2') in globalThis
      const agent = getGlobalDispatcher()
      console.log(before === after, agent.constructor.name, agent.explain?.('http://a.test').proxy)`
    const args = [...flags, '--import', 'tsx', '--input-type=module', '--eval', program]
    return new Promise((resolve, reject) => {
      execFile(
        process.execPath,
        args,
        { cwd, env: { ...process.env, ...env }, timeout: 30_000 },
        (error, stdout) => {
          if (error) reject(error)
          else resolve(stdout.trim())
        },
      )
    })
  }

  test('heeds the environment under NODE_USE_ENV_PROXY=1, and only then', async () => {
    const proxy = { http_proxy: 'http://proxy.test:1', no_proxy: '' }
    const [on, off] = await Promise.all([defaultOf({ ...proxy, NODE_USE_ENV_PROXY: '1' }), defaultOf(proxy)])
    // Newer runtimes set their own agent, which is then the choice.
    assert.match(on, /^true EnvHttpProxyAgent (?:http:\/\/proxy\.test:1|undefined)$/)
    assert.equal(off, 'true Agent undefined')
  })
})
