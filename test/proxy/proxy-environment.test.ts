// Which proxy is used for a URL, from options and variables.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError } from '../../src/errors.ts'
import {
  ProxyEnvironment,
  type ProxyEnvironmentOptions,
  proxyFor,
  type Variables,
} from '../../src/proxy/proxy-environment.ts'

const A = 'http://a.test:3128'
const B = 'http://b.test:3128'
const C = 'socks5://c.test:1080'

/** The proxies for http: and https:, with what decided. */
function decide(variables: Variables, options: ProxyEnvironmentOptions = {}): readonly unknown[] {
  const environment = new ProxyEnvironment(options, variables)
  return ['http://x.test', 'https://x.test'].flatMap((url) => {
    const { proxy, rule } = proxyFor(url, environment)
    return [proxy, rule]
  })
}

const UNSET = 'no proxy is set'

test('nothing is set: direct', () => {
  assert.deepEqual(decide({}), [null, UNSET, null, UNSET])
})

test('ALL_PROXY alone is for both, lower case first', () => {
  assert.deepEqual(decide({ ALL_PROXY: C }), [C, 'ALL_PROXY', C, 'ALL_PROXY'])
  assert.deepEqual(decide({ all_proxy: C, ALL_PROXY: A }), [C, 'all_proxy', C, 'all_proxy'])
})

test('ALL_PROXY is last in order', () => {
  assert.deepEqual(decide({ https_proxy: B, all_proxy: C }), [C, 'all_proxy', B, 'https_proxy'])
  assert.deepEqual(decide({ http_proxy: A, all_proxy: C }), [A, 'http_proxy', A, 'http_proxy'])
  assert.deepEqual(decide({ http_proxy: '', all_proxy: C }), [
    null,
    'http_proxy is empty',
    null,
    'http_proxy is empty',
  ])
})

test('http_proxy alone is for both', () => {
  assert.deepEqual(decide({ http_proxy: A }), [A, 'http_proxy', A, 'http_proxy'])
  assert.deepEqual(decide({ HTTP_PROXY: A }), [A, 'HTTP_PROXY', A, 'HTTP_PROXY'])
})

test('https_proxy is for https alone', () => {
  assert.deepEqual(decide({ https_proxy: B }), [null, UNSET, B, 'https_proxy'])
  assert.deepEqual(decide({ http_proxy: A, HTTPS_PROXY: B }), [A, 'http_proxy', B, 'HTTPS_PROXY'])
  assert.deepEqual(decide({ https_proxy: B, HTTPS_PROXY: A }).slice(2), [B, 'https_proxy'])
})

test('an empty variable in lower case hides the one in upper case', () => {
  const rule = 'http_proxy is empty'
  assert.deepEqual(decide({ http_proxy: '', HTTP_PROXY: A }), [null, rule, null, rule])
  assert.deepEqual(decide({ http_proxy: ' ', HTTP_PROXY: A }), [null, rule, null, rule])
})

test('an empty https_proxy is direct, as in curl', () => {
  assert.deepEqual(decide({ http_proxy: A, https_proxy: '' }), [
    A,
    'http_proxy',
    null,
    'https_proxy is empty',
  ])
})

test('a host with a port is an HTTP proxy', () => {
  assert.deepEqual(decide({ http_proxy: '127.0.0.1:3128' }).slice(0, 2), [
    'http://127.0.0.1:3128',
    'http_proxy',
  ])
  assert.deepEqual(decide({ https_proxy: ' localhost:3128 ' }).slice(2), [
    'http://localhost:3128',
    'https_proxy',
  ])
  assert.deepEqual(decide({ all_proxy: 'user:pass@p.test' })[0], 'http://user:pass@p.test')
})

test('HTTP_PROXY is ignored in a CGI program, where the header Proxy of a request sets it (httpoxy)', () => {
  assert.deepEqual(decide({ HTTP_PROXY: A, REQUEST_METHOD: 'GET' }), [null, UNSET, null, UNSET])
  assert.deepEqual(decide({ HTTP_PROXY: A, HTTPS_PROXY: B, REQUEST_METHOD: 'GET' }), [
    null,
    UNSET,
    B,
    'HTTPS_PROXY',
  ])
  assert.deepEqual(decide({ http_proxy: A, REQUEST_METHOD: 'GET' })[0], A)
  assert.deepEqual(decide({ HTTP_PROXY: A, REQUEST_METHOD: '' })[0], A)
  assert.deepEqual(decide({ REQUEST_METHOD: 'GET' }, { httpProxy: A })[0], A)
})

test('on Windows, a CGI program ignores both spellings, which are one variable there', (t) => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
  t.after(() => Object.defineProperty(process, 'platform', platform))
  Object.defineProperty(process, 'platform', { ...platform, value: 'win32' })
  assert.deepEqual(decide({ http_proxy: A, REQUEST_METHOD: 'GET' })[0], null)
  assert.deepEqual(decide({ http_proxy: A })[0], A)
})

test('options come before variables; null counts as not given, an empty string as none', () => {
  const variables = { http_proxy: A, https_proxy: A }
  assert.deepEqual(decide(variables, { httpProxy: B }), [B, 'httpProxy', A, 'https_proxy'])
  assert.deepEqual(decide(variables, { httpsProxy: new URL(B) }), [A, 'http_proxy', `${B}/`, 'httpsProxy'])
  assert.deepEqual(decide(variables, { httpProxy: null, httpsProxy: undefined })[0], A)
  assert.deepEqual(decide({ https_proxy: A }, { httpProxy: B })[2], A)
  assert.deepEqual(decide({}, { httpProxy: B }), [B, 'httpProxy', B, 'httpProxy'])
  assert.deepEqual(decide(variables, { httpProxy: '', httpsProxy: '' }), [
    null,
    'httpProxy is empty',
    null,
    'httpsProxy is empty',
  ])
})

test('options of other types are refused', () => {
  const refuse = (options: object, message: string): void => {
    assert.throws(
      () => new ProxyEnvironment(options, {}),
      (error: Error) => {
        assert.ok(error instanceof InvalidArgumentError)
        assert.equal(error.message, message)
        return true
      },
    )
  }
  for (const value of [1, {}, [], true]) {
    refuse({ noProxy: value }, 'noProxy must be a string')
    refuse({ httpProxy: value }, 'httpProxy must be a string or a URL')
    refuse({ httpsProxy: value }, 'httpsProxy must be a string or a URL')
  }
})

test('all variables are read for every question', () => {
  const variables: Record<string, string | undefined> = { http_proxy: B }
  const environment = new ProxyEnvironment({}, variables)
  const decision = (): unknown => proxyFor('http://x.test', environment)
  assert.deepEqual(decision(), { proxy: B, rule: 'http_proxy' })
  variables['http_proxy'] = A
  assert.deepEqual(decision(), { proxy: A, rule: 'http_proxy' })
  variables['NO_PROXY'] = 'y.test, x.test'
  assert.deepEqual(decision(), { proxy: null, rule: 'NO_PROXY: x.test' })
  variables['no_proxy'] = ''
  assert.deepEqual(decision(), { proxy: A, rule: 'http_proxy' })
  variables['no_proxy'] = '*'
  assert.deepEqual(decision(), { proxy: null, rule: 'no_proxy: *' })
})

test('reports that a proxy is another one than before', () => {
  const variables: Record<string, string | undefined> = { http_proxy: A }
  const environment = new ProxyEnvironment({}, variables)
  let changes = 0
  environment.onChange = () => changes++
  const ask = (): number => {
    void environment.http
    void environment.https
    return changes
  }
  assert.equal(ask(), 0)
  variables['no_proxy'] = '*'
  assert.equal(ask(), 0)
  variables['https_proxy'] = B
  assert.equal(ask(), 1)
  delete variables['http_proxy']
  assert.equal(ask(), 2)
  assert.equal(ask(), 2)
})

test('a list of exceptions is remembered by origin, without end of origins', () => {
  const variables = { http_proxy: A, no_proxy: '.even.test' }
  const environment = new ProxyEnvironment({}, variables)
  for (let i = 0; i < 2100; i++) {
    const kind = i % 2 === 0 ? 'even' : 'odd'
    assert.equal(proxyFor(`http://h${i}.${kind}.test`, environment).proxy, kind === 'even' ? null : A)
  }
  assert.equal(proxyFor('http://h0.even.test', environment).proxy, null)
})

test('the option noProxy hides the variable, also when it is empty; null does not', () => {
  const variables = { http_proxy: A, no_proxy: '*' }
  assert.equal(decide(variables, { noProxy: '' })[0], A)
  assert.deepEqual(decide(variables, { noProxy: 'x.test:80' }), [null, 'noProxy: x.test:80', A, 'http_proxy'])
  assert.equal(decide(variables, { noProxy: null })[0], null)
  assert.equal(decide(variables)[0], null)
})

test('ws: and wss: go where http: and https: go', () => {
  const environment = new ProxyEnvironment({}, { http_proxy: A, https_proxy: B, no_proxy: 'y.test:443' })
  const proxies = ['ws://x.test', 'wss://x.test', 'ws://y.test', 'wss://y.test'].map(
    (url) => proxyFor(url, environment).proxy,
  )
  assert.deepEqual(proxies, [A, B, A, null])
})

test('no rule shows the credentials of a proxy', () => {
  const [, rule] = decide({ http_proxy: 'http://user:secret@p.test' })
  assert.equal(rule, 'http_proxy')
})

test('without variables, those of the process are read when they are needed', (t) => {
  const before = process.env
  t.after(() => {
    process.env = before
  })
  process.env = { http_proxy: B }
  const environment = new ProxyEnvironment()
  process.env = { http_proxy: A, no_proxy: 'x.test' }
  assert.deepEqual(proxyFor('http://x.test', environment), { proxy: null, rule: 'no_proxy: x.test' })
  assert.equal(proxyFor('http://y.test', environment).proxy, A)
})

// Security row 12.
test('a polluted Object.prototype configures no proxy and excepts no host', (t) => {
  const names = ['http_proxy', 'HTTPS_PROXY', 'all_proxy', 'httpProxy', 'httpsProxy', 'noProxy', 'no_proxy']
  t.after(() => {
    for (const name of names) delete (Object.prototype as Record<string, unknown>)[name]
  })
  for (const name of names) {
    Object.defineProperty(Object.prototype, name, { value: '*', configurable: true, enumerable: true })
  }
  assert.deepEqual(decide({}), [null, UNSET, null, UNSET])
  assert.deepEqual(decide({ HTTP_PROXY: A }), [A, 'HTTP_PROXY', A, 'HTTP_PROXY'])
  const before = process.env['HTTP_PROXY']
  t.after(() => {
    if (before === undefined) delete process.env['HTTP_PROXY']
    else process.env['HTTP_PROXY'] = before
  })
  process.env['HTTP_PROXY'] = A
  assert.equal(proxyFor('http://x.test', new ProxyEnvironment()).proxy, A)
})

test('an entry for an IPv4 address covers its IPv4-mapped spelling, and the other way around', () => {
  const isDirect = (entry: string, url: string): boolean =>
    proxyFor(url, new ProxyEnvironment({}, { http_proxy: A, no_proxy: entry })).proxy === null
  assert.equal(isDirect('127.0.0.1', 'http://[::ffff:127.0.0.1]'), true)
  assert.equal(isDirect('127.0.0.0/8', 'http://[::ffff:7f00:1]'), true)
  assert.equal(isDirect('::ffff:127.0.0.1', 'http://127.0.0.1'), true)
  assert.equal(isDirect('[::ffff:127.0.0.1]', 'http://127.0.0.1'), true)
  assert.equal(isDirect('127.0.0.1', 'http://[::ffff:127.0.0.2]'), false)
  assert.equal(isDirect('::/0', 'http://127.0.0.1'), false)
  assert.equal(isDirect('::1', 'http://127.0.0.1'), false)
})
