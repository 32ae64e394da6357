/** Properties of `Object.prototype` are not read as options either if they are not enumerable: only an own getter may run. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import {
  Agent,
  BalancedPool,
  Client,
  CookieJar,
  cacheStores,
  EnvHttpProxyAgent,
  H2CClient,
  interceptors,
  MockAgent,
  Pool,
  ProxyAgent,
  RetryAgent,
  RoundRobinPool,
  Socks5ProxyAgent,
} from '../../src/index.ts'

const ORIGIN = 'http://localhost:1'

/** Part of the language or of the runtime itself: a property descriptor or an error is not an option. */
const NOT_OPTIONS: ReadonlySet<string> = new Set(['cause', 'get', 'set', 'value', 'writable', 'signal'])

/** The first cell of each row of the tables with a column for the type. */
function documentedOptions(): string[] {
  const docs = new URL('../../docs/', import.meta.url)
  const names = new Set<string>()
  for (const file of readdirSync(docs).filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(new URL(file, docs), 'utf8')
    for (const table of text.match(/^\| option \|.*(?:\n\|.*)+/gm) ?? []) {
      for (const [, name] of table.matchAll(/^\| `(\w+)`/gm)) names.add(name!)
    }
  }
  return [...names].filter((name) => !NOT_OPTIONS.has(name))
}

const ENTRIES: Readonly<Record<string, () => unknown>> = {
  Client: () => new Client(ORIGIN, {}),
  'Client with TLS options': () => new Client('https://localhost:1', { connect: {} }),
  H2CClient: () => new H2CClient(ORIGIN, {}),
  Pool: () => new Pool(ORIGIN, {}),
  BalancedPool: () => new BalancedPool(ORIGIN, {}),
  RoundRobinPool: () => new RoundRobinPool(ORIGIN, {}),
  Agent: () => new Agent({}),
  ProxyAgent: () => new ProxyAgent({ uri: ORIGIN, proxyTls: {}, requestTls: {} }),
  EnvHttpProxyAgent: () => new EnvHttpProxyAgent({ httpProxy: ORIGIN, httpsProxy: ORIGIN, noProxy: '' }),
  Socks5ProxyAgent: () => new Socks5ProxyAgent('socks5://localhost:1', {}),
  MockAgent: () => new MockAgent({}).get(ORIGIN).intercept({ path: '/', method: 'GET' }).reply(200, '', {}),
  RetryAgent: () => new RetryAgent(new Client(ORIGIN), {}),
  CookieJar: () => new CookieJar({}).setCookie({ name: 'a', value: '1' }, ORIGIN, {}),
  MemoryCacheStore: () => new cacheStores.MemoryCacheStore({}),
  ...Object.fromEntries(
    Object.entries(interceptors).map(([name, interceptor]) => [
      `interceptors.${name}`,
      () => (interceptor as (options: object) => unknown)({}),
    ]),
  ),
}

describe('options through properties that are not enumerable', () => {
  const names = documentedOptions()

  test('the docs have options', () => {
    assert.ok(names.length > 100, `${names.length}`)
  })

  for (const [entry, use] of Object.entries(ENTRIES)) {
    test(entry, () => {
      const read: string[] = []
      let failed: unknown = null
      try {
        use()
      } catch (error) {
        failed = (error as Error).message
      }
      for (const name of names) {
        let message: unknown = null
        Object.defineProperty(Object.prototype, name, {
          configurable: true,
          get() {
            // The object that is asked may be one of the runtime's, which has nothing to do with options.
            throw new Error('read')
          },
          set(value: unknown) {
            Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true })
          },
        })
        try {
          use()
        } catch (error) {
          message = (error as Error).message
        } finally {
          delete (Object.prototype as Record<string, unknown>)[name]
        }
        if (message !== failed) read.push(`${name}: ${message}`)
      }
      assert.deepEqual(read, [])
    })
  }
})
