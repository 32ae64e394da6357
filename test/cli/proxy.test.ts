// The command through proxies: named on the command line or by the environment, shown in the report, never their password.
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { startProxy } from '../proxy/support/test-proxy.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { command, H1, H1_TLS, H2, H2C, type Listener, onTerminal, start, title, WAYS } from './origin.ts'

const page: Listener = (_request, response) => response.end('here')

/** Sets variables of the process, which the library reads, until the test ends. */
function setVariables(t: TestContext, variables: Record<string, string>): void {
  Object.assign(process.env, variables)
  t.after(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
  })
}

for (const way of WAYS) {
  test(`--proxy with a SOCKS proxy to ${title(way)}: the report names the hop`, async (t) => {
    const url = await start(t, way, page)
    const proxy = await startSocksServer(t, { credentials: { username: 'user', password: 'sesame' } })
    const given = `socks5h://user:sesame@127.0.0.1:${proxy.port}`
    const { code, stdout, stderr } = await onTerminal([...way.options, '-x', given, '-v', url])
    assert.deepEqual([code, stderr], [0, ''])
    const lines = stdout.split('\n').slice(2)
    assert.ok(lines[2]!.startsWith(`${way.protocol}, 127.0.0.1:${proxy.port}`), lines[2])
    assert.equal(lines[3], `through socks5h://127.0.0.1:${proxy.port} (--proxy)`)
    assert.match(stdout, /\n\nsent\n( {2}.*\n)* {2}user-agent {2}ventuno\/\d/)
    assert.match(stdout, /\n {2}connect +\d/)
    assert.equal(/\n {2}tls +\d/.test(stdout), way.isSecure)
    assert.ok(!stdout.includes('sesame'))
    assert.equal(proxy.requests.length, 1)
  })
}

test('an HTTP proxy forwards http and opens tunnels for https and h2c', async (t) => {
  const proxy = await startProxy(t, 'h1')
  const hop = { uri: `http://127.0.0.1:${proxy.port}`, rule: '--proxy' }
  for (const way of WAYS) {
    const url = await start(t, way, page)
    const { code, stdout } = await command([...way.options, '--proxy', hop.uri, '--json', url])
    assert.equal(code, 0, stdout)
    const { connection, response } = JSON.parse(stdout)
    assert.deepEqual([connection.protocol, connection.proxy, response.body], [way.protocol, hop, 'here'])
    assert.equal(connection.remotePort, proxy.port)
  }
  assert.deepEqual([proxy.forwards.length, proxy.connects.length], [1, 3])
})

describe('the environment', () => {
  test('names the proxy by default, and the report says which variable did', async (t) => {
    const url = await start(t, H1, page)
    const secure = await start(t, H2, page)
    const proxy = await startProxy(t, 'h1')
    const socks = await startSocksServer(t)
    setVariables(t, { HTTP_PROXY: `127.0.0.1:${proxy.port}`, https_proxy: socks.url })
    const plain = await onTerminal([url])
    assert.match(
      plain.stdout,
      new RegExp(`\nthrough http://127\\.0\\.0\\.1:${proxy.port} \\(HTTP_PROXY\\)\n`),
    )
    const other = await onTerminal([...H2.options, secure])
    assert.match(
      other.stdout,
      new RegExp(`\nthrough socks5://127\\.0\\.0\\.1:${socks.port} \\(https_proxy\\)\n`),
    )
    assert.deepEqual([proxy.forwards.length, socks.requests.length], [1, 1])
  })

  test('--cacert holds for its proxy as for that of --proxy, and makes no SOCKS proxy speak TLS', async (t) => {
    const url = await start(t, H1_TLS, page)
    const proxy = await startProxy(t, 'h1+tls')
    const socks = await startSocksServer(t)
    setVariables(t, { https_proxy: proxy.url })
    for (const argv of [[], ['-x', proxy.url], ['-x', socks.url]]) {
      const { code, stdout, stderr } = await command([...H1_TLS.options, ...argv, '--json', url])
      assert.equal(code, 0, stdout + stderr)
      assert.equal(JSON.parse(stdout).response.body, 'here')
    }
    assert.deepEqual([proxy.connects.length, socks.requests.length], [2, 1])
    const plain = await start(t, H1, page)
    assert.equal((await command([...H1_TLS.options, '-x', proxy.url, plain])).code, 0)
    assert.equal(proxy.forwards.length, 1)
    const distrusted = await command([url])
    assert.equal(distrusted.code, 4)
    assert.match(distrusted.stdout + distrusted.stderr, /UND_ERR_PRX_TLS/)
  })

  test('NO_PROXY, --noproxy and an empty --proxy lead to a direct connection', async (t) => {
    const url = await start(t, H1, page)
    const { port } = new URL(url)
    setVariables(t, { http_proxy: `http://127.0.0.1:${await refusingPort(t)}` })
    for (const argv of [
      ['--noproxy', `x.test, localhost:${port}`],
      ['--proxy', ''],
    ]) {
      const { code, stdout } = await command([...argv, '--json', url])
      assert.equal(code, 0)
      assert.equal(JSON.parse(stdout).connection.proxy, null)
    }
    setVariables(t, { no_proxy: '*' })
    assert.equal((await command([url])).code, 0)
    // The option hides the variable.
    assert.equal((await command(['--noproxy', '', url])).code, 2)
  })

  test('is not for a Unix socket', async (t) => {
    setVariables(t, { http_proxy: `http://127.0.0.1:${await refusingPort(t)}` })
    const { code, stderr } = await command(['--unix-socket', '/nowhere/at/all', 'http://localhost'])
    assert.equal(code, 2)
    assert.match(stderr, /ENOENT/)
  })
})

describe('failures name the proxy and the step', () => {
  test('a proxy that does not listen', async (t) => {
    const uri = `socks5://127.0.0.1:${await refusingPort(t)}`
    const { code, stderr } = await command(['-x', uri.replace('//', '//user:sesame@'), 'http://x.test'])
    assert.equal(code, 2)
    assert.match(
      stderr.replaceAll(/\s+/g, ' '),
      new RegExp(`ECONNREFUSED.* \\(proxy-dial at the proxy ${uri}\\)`),
    )
    assert.ok(!stderr.includes('sesame'))
  })

  test('a SOCKS proxy with another password', async (t) => {
    const proxy = await startSocksServer(t, { credentials: { username: 'u', password: 'p' } })
    const { code, stderr } = await command(['-x', proxy.url.replace('//', '//u:sesame@'), 'http://x.test'])
    assert.equal(code, 4)
    const text = stderr.replaceAll(/\s+/g, ' ')
    assert.match(text, /UND_ERR_SOCKS5_AUTH_FAILED: Authentication failed \(socks-auth at the proxy socks5:/)
    assert.match(text, /Check the name and the password in the URL of the proxy\./)
    assert.ok(!stderr.includes('sesame'))
  })

  test('an HTTP proxy that refuses', async (t) => {
    const proxy = await startProxy(t, 'h1', { judge: () => ({ status: 403, body: 'no' }) })
    const { code, stderr } = await command(['-x', proxy.url, 'https://x.test'])
    assert.equal(code, 4)
    assert.match(
      stderr.replaceAll(/\s+/g, ' '),
      /UND_ERR_PRX_CONN: .*\(403\).* \(proxy-connect at the proxy /,
    )
  })

  test('--http2 with a target that speaks HTTP/1.1', async (t) => {
    const url = await start(t, H1_TLS, page)
    const proxy = await startSocksServer(t)
    const { code, stderr } = await command([...H1_TLS.options, '--http2', '-x', proxy.url, url])
    assert.equal(code, 4)
    assert.match(stderr, /WRONG_PROTOCOL/)
  })
})

test('--repeat measures through the proxy', async (t) => {
  for (const way of [H1, H2, H2C]) {
    const url = await start(t, way, page)
    const proxy = await startSocksServer(t)
    const argv = [...way.options, '-x', proxy.url, '--repeat', '20', '--concurrency', '2', '--json', url]
    const { code, stdout } = await command(argv)
    assert.equal(code, 0)
    const { statuses, connections, protocols } = JSON.parse(stdout)
    assert.deepEqual([statuses, protocols], [{ 200: 20 }, [way.protocol]])
    assert.equal(connections, proxy.requests.length)
    assert.ok(connections >= 1 && connections <= 2)
  }
})

test('wrong proxies are mistakes in the command line, and are not repeated', async () => {
  for (const uri of ['ftp://user:sesame@x', 'http://user:sesame@[', 'socks5://user:ses%zzame@x']) {
    const { code, stderr } = await command(['-x', uri, 'http://localhost'])
    assert.equal(code, 1)
    assert.match(stderr, /the URL of the proxy is not a valid http, https or socks5 URL/)
    assert.ok(!stderr.includes('ses'))
  }
  const both = await command(['-x', 'http://x', '--unix-socket', '/x', 'http://localhost'])
  assert.match(both.stderr, /--proxy and --unix-socket exclude each other/)
})
