/** EnvHttpProxyAgent: which way requests take, and what it says about that. The table of variables is with proxy-environment. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { EnvHttpProxyAgent, errors } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { eventually, FakeClock } from '../support/fake-clock.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { PROXY_WIRES, startProxy } from './support/test-proxy.ts'

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

  test('reads the environment with each request', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const one = await startProxy(t, 'h1')
    const two = await startProxy(t, 'h1')
    setVariables(t, { http_proxy: one.url })
    const agent = new EnvHttpProxyAgent()
    t.after(() => agent.destroy())
    const ways: unknown[] = []
    const ask = async (): Promise<void> => {
      await readEcho(await agent.request({ ...GET, origin: origin.url }))
      ways.push([one.forwards.length, two.forwards.length, agent.explain(origin.url).rule])
    }
    await ask()
    process.env['no_proxy'] = 'localhost'
    await ask()
    delete process.env['no_proxy']
    process.env['http_proxy'] = two.url
    await ask()
    delete process.env['http_proxy']
    await ask()
    process.env['ALL_PROXY'] = one.url
    await ask()
    assert.deepEqual(ways, [
      [1, 0, 'http_proxy'],
      [1, 0, 'no_proxy: localhost'],
      [1, 1, 'http_proxy'],
      [1, 1, 'no proxy is set'],
      [2, 1, 'ALL_PROXY'],
    ])
  })

  for (const proxyWire of PROXY_WIRES) {
    test(`ends with a proxy over ${proxyWire} that the environment names no more, after its requests`, async (t) => {
      const answers: (() => void)[] = []
      const origin = await startOrigin(t, H1, (_request, response) => {
        answers.push(() => response.end('ok'))
      })
      const old = await startProxy(t, proxyWire)
      const other = await startProxy(t, 'h1')
      setVariables(t, { all_proxy: old.url })
      const agent = new EnvHttpProxyAgent({ proxyTunnel: true, proxyTls: { ca: authority } })
      t.after(() => agent.destroy())
      const target = { ...GET, origin: `http://a.test:${origin.port}` }
      const first = agent.request(target)
      await eventually(() => answers.length === 1)
      process.env['all_proxy'] = other.url
      const second = agent.request(target)
      await eventually(() => answers.length === 2)
      // The first is still under way, and its tunnel with it.
      assert.equal(old.tunnels.size, 1)
      for (const answer of answers) answer()
      for (const response of [await first, await second]) assert.equal(await response.body.text(), 'ok')
      await eventually(() => old.sockets.every(({ destroyed }) => destroyed))
      assert.equal(other.tunnels.size, 1)
      assert.equal(agent.stats[target.origin]!.connected, 1)
      await agent.close()
      await eventually(() => other.tunnels.size === 0)
    })
  }

  for (const wire of PROXY_WIRES) {
    test(`closes the tunnels when the environment names no proxy any more, over ${wire}`, async (t) => {
      const origin = await startOrigin(t, H1, echo)
      const proxy = await startProxy(t, wire)
      setVariables(t, { http_proxy: proxy.url })
      // No connection is closed because it is idle.
      FakeClock.install(t)
      const agent = new EnvHttpProxyAgent({ proxyTunnel: true, proxyTls: { ca: authority } })
      t.after(() => agent.destroy())
      await readEcho(await agent.request({ ...GET, origin: origin.url }))
      assert.equal(proxy.tunnels.size, 1)
      delete process.env['http_proxy']
      await readEcho(await agent.request({ ...GET, origin: origin.url }))
      await eventually(() => proxy.tunnels.size === 0 && proxy.sockets.every(({ destroyed }) => destroyed))
      assert.equal(proxy.connects.length, 1)
    })
  }

  test('fails requests while the environment has a mistake, and never goes direct', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    setVariables(t, { http_proxy: proxy.url })
    const agent = new EnvHttpProxyAgent()
    t.after(() => agent.destroy())
    process.env['http_proxy'] = 'ftp://a.test'
    await assert.rejects(agent.request({ ...GET, origin: origin.url }), errors.InvalidArgumentError)
    assert.equal(origin.sockets.length, 0)
    process.env['http_proxy'] = proxy.url
    await readEcho(await agent.request({ ...GET, origin: origin.url }))
    assert.ok(proxy.servedAll(origin))
  })

  test('close() waits for the requests through a proxy of before', async (t) => {
    const answers: (() => void)[] = []
    const origin = await startOrigin(t, H1, (_request, response) => {
      answers.push(() => response.end('ok'))
    })
    const proxy = await startProxy(t, 'h1')
    setVariables(t, { http_proxy: proxy.url })
    const agent = new EnvHttpProxyAgent()
    const first = agent.request({ ...GET, origin: origin.url })
    await eventually(() => answers.length === 1)
    delete process.env['http_proxy']
    const second = agent.request({ ...GET, origin: origin.url })
    await eventually(() => answers.length === 2)
    answers[1]!()
    await (await second).body.text()
    const closing = agent.close()
    answers[0]!()
    assert.equal(await (await first).body.text(), 'ok')
    await closing
    await eventually(() => proxy.sockets.every(({ destroyed }) => destroyed))
  })

  test('destroy() fails the requests through a proxy of before', async (t) => {
    const origin = await startOrigin(t, H1, (request, response) => {
      if (request.url === '/now') response.end()
    })
    const [one, two] = [await startProxy(t, 'h1'), await startProxy(t, 'h1')]
    setVariables(t, { http_proxy: one.url })
    const agent = new EnvHttpProxyAgent()
    t.after(() => agent.destroy())
    const before = failure(agent.request({ ...GET, origin: origin.url }))
    await eventually(() => origin.sockets.length === 1)
    process.env['http_proxy'] = two.url
    await (await agent.request({ ...GET, origin: origin.url, path: '/now' })).body.dump()
    const reason = new Error('over')
    await agent.destroy(reason)
    assert.equal(await Promise.race([before, new Promise(setImmediate)]), reason)
  })

  test('ignores uri and proxy among its options', async (t) => {
    setVariables(t, {})
    const options = { uri: 'http://127.0.0.1:1', proxy: () => 'http://127.0.0.1:1' }
    const agent = new EnvHttpProxyAgent(options as object)
    t.after(() => agent.destroy())
    assert.equal(agent.explain('http://a.test').proxy, null)
    const origin = await startOrigin(t, H1, echo)
    await readEcho(await agent.request({ ...GET, origin: origin.url }))
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
  const index = sourceUrl('src/index.ts')

  /** The output of a program in a new process. */
  function run(program: string, env: Record<string, string>, ...flags: string[]): Promise<string> {
    const args = [...flags, ...sourceLoader, '--input-type=module', '--eval', program]
    const { NODE_OPTIONS: _, ...inherited } = process.env
    return new Promise((resolve, reject) => {
      execFile(
        process.execPath,
        args,
        { cwd, env: { ...inherited, ...env }, timeout: 30_000 },
        (error, stdout) => {
          if (error) reject(error)
          else resolve(stdout.trim())
        },
      )
    })
  }

  test('heeds the environment under NODE_USE_ENV_PROXY=1, and only then', async () => {
    const program = `
      const before = Symbol.for('undici.globalDispatcher.2') in globalThis
      const { EnvHttpProxyAgent, getGlobalDispatcher } = await import(${JSON.stringify(index)})
      const after = Symbol.for('undici.globalDispatcher.2') in globalThis
      const agent = getGlobalDispatcher()
      console.log(before === after, agent.constructor.name, agent.explain?.('http://a.test').proxy)`
    const proxy = { http_proxy: 'http://proxy.test:1', no_proxy: '' }
    const [on, off] = await Promise.all([
      run(program, { ...proxy, NODE_USE_ENV_PROXY: '1' }),
      run(program, proxy),
    ])
    // Newer runtimes set their own agent, which is then the choice.
    assert.match(on, /^true EnvHttpProxyAgent (?:http:\/\/proxy\.test:1|undefined)$/)
    assert.equal(off, 'true Agent undefined')
  })

  for (const [where, given] of [
    ['the command line', `process.execArgv.push('--use-env-proxy')`],
    ['NODE_OPTIONS', `process.env.NODE_OPTIONS = '--no-warnings --use-env-proxy'`],
  ] as const) {
    // A runtime that knows the option would set its own agent at its start.
    test(`heeds the environment with --use-env-proxy in ${where}`, async () => {
      const program = `
        ${given}
        const { getGlobalDispatcher } = await import(${JSON.stringify(index)})
        console.log(getGlobalDispatcher().explain('http://a.test').proxy)`
      const output = await run(program, { http_proxy: 'http://proxy.test:1', no_proxy: '' })
      assert.equal(output, 'http://proxy.test:1')
    })
  }

  for (const [what, env, flags] of [
    ['NODE_USE_ENV_PROXY=1', { NODE_USE_ENV_PROXY: '1' }, []],
    ['--use-env-proxy', {}, ['--use-env-proxy']],
    ['NODE_OPTIONS=--use-env-proxy', { NODE_OPTIONS: '--use-env-proxy' }, []],
  ] as const) {
    const isKnown = process.allowedNodeEnvironmentFlags.has('--use-env-proxy')
    const skip = what.includes('--') && !isKnown && 'this version of the runtime has no such option'
    test(`sends all through the proxy under ${what}, and nothing without`, { skip }, async (t) => {
      const origin = await startOrigin(t, H1, (_request, response) => response.end('ok'))
      const proxy = await startProxy(t, 'h1')
      const target = JSON.stringify(`http://a.test:${origin.port}`)
      const program = `
        const { fetch, request } = await import(${JSON.stringify(index)})
        console.log(await (await request(${target})).body.text(), await (await fetch(${target})).text())`
      const variables = { HTTP_PROXY: proxy.url, no_proxy: '' }
      // The name leads nowhere without the proxy. Versions with an agent for this open tunnels for http targets.
      assert.equal(await run(program, { ...variables, ...env }, ...flags), 'ok ok')
      assert.ok(proxy.forwards.length + proxy.connects.length > 0)
      await assert.rejects(run(program, variables), /ENOTFOUND|EAI_AGAIN/)
    })
  }
})
