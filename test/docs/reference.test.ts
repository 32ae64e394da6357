/** The reference is complete: exports, options with their defaults and refusals, error codes. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readCacheOptions } from '../../src/cache/options.ts'
import { readClientOptions } from '../../src/dispatcher/client-options.ts'
import * as library from '../../src/index.ts'
import {
  Agent,
  BalancedPool,
  Client,
  CookieJar,
  errors,
  H2CClient,
  interceptors,
  Pool,
  Socks5ProxyAgent,
} from '../../src/index.ts'
import { CIRCUIT_BREAKER_OPTIONS } from '../../src/interceptor/circuit-breaker/options.ts'
import { readCompressOptions } from '../../src/interceptor/compress/options.ts'
import { DECOMPRESS_OPTIONS } from '../../src/interceptor/decompress/options.ts'
import { DEDUPLICATE_OPTIONS } from '../../src/interceptor/deduplicate/options.ts'
import { readDnsOptions } from '../../src/interceptor/dns/options.ts'
import { readHedgeOptions } from '../../src/interceptor/hedge/options.ts'
import { readRedirectOptions } from '../../src/interceptor/redirect/options.ts'
import { readRetryOptions } from '../../src/interceptor/retry/options.ts'
import { readThrottleOptions } from '../../src/interceptor/throttle/options.ts'
import { readOptions } from '../../src/options.ts'
import { errorCodeName } from '../../src/protocol/http2/constants.ts'
import { Telemetry } from '../support/telemetry.ts'
import { type Page, readPages, root } from './pages.ts'

const pages = new Map(readPages().map((page) => [page.path, page]))

function page(path: string): Page {
  const found = pages.get(path)
  assert.ok(found !== undefined, path)
  return found
}

function source(path: string): string {
  return readFileSync(join(root, 'src', path), 'utf8')
}

const documents = [...pages.values()].filter(({ path }) => path.startsWith('docs/'))

describe('the documents name', () => {
  const index = page('docs/README.md').text

  for (const name of Object.keys(library).filter((key) => key !== 'default')) {
    it(`the export ${name} in the index`, () => {
      assert.ok(index.includes(`\`${name}\``), name)
    })
  }

  it('every exported type', () => {
    const lists = [...source('surface.ts').matchAll(/from '\.\/(surface-.*)'/g)].map(([, file]) =>
      source(file!),
    )
    const surface = lists.join('')
    const types = [...surface.matchAll(/export type \{([^}]*)\}/g)].flatMap(([, names]) =>
      // The name that is exported.
      names!.split(',').map((name) => name.split(' as ').at(-1)!.trim()),
    )
    assert.ok(types.length > 0)
    for (const type of types.filter((name) => name !== '')) {
      assert.ok(
        documents.some(({ text }) => new RegExp(`\\b${type}\\b`).test(text)),
        `the type ${type}`,
      )
    }
  })

  it('every error class', () => {
    for (const name of Object.keys(errors)) {
      assert.ok(page('docs/errors.md').text.includes(`\`${name}\``), name)
    }
  })
})

describe('the error codes', () => {
  const { text, headings } = page('docs/errors.md')
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const code = files
    .filter((file) => file.endsWith('.ts') && !file.startsWith('cli'))
    .map((file) => source(file))
    .join('\n')
  const found = new Set(
    [...code.matchAll(/\b(?:UND_ERR|HPE|ERR)_[A-Z0-9_]*[A-Z0-9]\b/g)].map(([name]) => name),
  )

  it('each have an entry', () => {
    assert.ok(found.size > 30)
    for (const name of found) {
      assert.ok(
        headings.includes(name) || text.includes(`| \`${name}\``) || text.includes(`, \`${name}\``),
        name,
      )
    }
  })

  it('of HTTP/2 each have an entry', () => {
    const list = Array.from({ length: 14 }, (_, code) => errorCodeName(code))
    assert.equal(errorCodeName(14), 'error code 14')
    for (const [number, name] of list.entries()) assert.ok(text.includes(`| ${number} | \`${name}\` |`), name)
  })

  it('are not of the past', () => {
    for (const heading of headings.filter((name) => /^(?:UND_ERR|HPE|ERR)_?/.test(name))) {
      assert.ok(found.has(heading) || heading === 'UND_ERR', heading)
    }
  })
})

function refusalOf(make: () => unknown): string {
  try {
    make()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

interface Row {
  readonly option: string
  readonly fallback: string
  readonly refusal: string
}

/** Rows of tables with the columns option, type, default, meaning, refused with. */
function optionRows(path: string): Row[] {
  return page(path)
    .text.split('\n')
    .filter((line) => /^\| `\w+` \|/.test(line))
    .map((line) => line.split(' |').map((cell) => cell.replace(/^\|?\s*/, '').trim()))
    .filter((cells) => cells.length >= 6)
    .map((cells) => ({
      option: cells[0]!.replaceAll('`', ''),
      fallback: cells[2]!.replaceAll('`', ''),
      refusal: /^`(.*)`$/.exec(cells[4]!)?.[1] ?? '',
    }))
}

function fieldsOf(path: string, type: string): string[] {
  const body = new RegExp(`(?:^|\\n)(?:export )?interface ${type}\\b[^]*?\\{\\n([^]*?)\\n\\}`).exec(
    source(path),
  )
  assert.ok(body !== null, type)
  return [...body[1]!.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, name]) => name!)
}

/** The page has the options of both. */
function cookieOptions(options: object): void {
  new CookieJar(options)
  interceptors.cookies(options)
}

/** What the readers make of no options. An option that they turn into something else is not compared. */
const INTERCEPTOR_SETTINGS: [path: string, settings: object][] = [
  ['docs/cache.md', readCacheOptions({})],
  ['docs/circuit-breaker.md', readOptions(CIRCUIT_BREAKER_OPTIONS, {})],
  // The level depends on the coding.
  ['docs/compress.md', { ...readCompressOptions({}), level: null }],
  ['docs/decompress.md', readOptions(DECOMPRESS_OPTIONS, {})],
  ['docs/deduplicate.md', readOptions(DEDUPLICATE_OPTIONS, {})],
  ['docs/dns.md', readDnsOptions({})],
  ['docs/hedge.md', readHedgeOptions({ delay: 1 })],
  ['docs/redirect.md', readRedirectOptions({})],
  ['docs/retry.md', readRetryOptions({})],
  ['docs/throttle.md', readThrottleOptions({})],
]

/** The types whose options are rows of a table of their page, not only words in it. */
const INTERCEPTOR_TYPES: [file: string, type: string, path: string][] = [
  ['cache/options.ts', 'CacheOptions', 'docs/cache.md'],
  ['interceptor/auth/options.ts', 'AuthSchemes', 'docs/auth.md'],
  ['interceptor/auth/options.ts', 'AuthScope', 'docs/auth.md'],
  ['interceptor/circuit-breaker/options.ts', 'CircuitBreakerOptions', 'docs/circuit-breaker.md'],
  ['interceptor/compress/options.ts', 'CompressOptions', 'docs/compress.md'],
  ['interceptor/cookies/options.ts', 'CookiesOptions', 'docs/cookie-jar.md'],
  ['interceptor/decompress/options.ts', 'DecompressOptions', 'docs/decompress.md'],
  ['interceptor/deduplicate/options.ts', 'DeduplicateOptions', 'docs/deduplicate.md'],
  ['interceptor/dns/options.ts', 'DnsOptions', 'docs/dns.md'],
  ['interceptor/dump/interceptor.ts', 'DumpInterceptorOptions', 'docs/dump.md'],
  ['interceptor/guard/options.ts', 'GuardInterceptorOptions', 'docs/guard.md'],
  ['interceptor/hedge/options.ts', 'HedgeOptions', 'docs/hedge.md'],
  ['interceptor/metrics/options.ts', 'MetricsOptions', 'docs/metrics.md'],
  ['interceptor/redirect/options.ts', 'RedirectOptions', 'docs/redirect.md'],
  ['interceptor/response-error/interceptor.ts', 'ResponseErrorOptions', 'docs/response-error.md'],
  ['interceptor/retry/options.ts', 'RetryOptions', 'docs/retry.md'],
  ['interceptor/throttle/options.ts', 'ThrottleOptions', 'docs/throttle.md'],
]

/** For programs written for undici; its page says so. */
const IGNORED = 'ResponseErrorOptions.throwOnError'

/** The defaults of a page: name → cell. */
function defaultsOf(path: string): Map<string, string> {
  const rows = [...page(path).text.matchAll(/^\| `(\w+)` \| [^|]+ \|([^|]*)\|/gm)]
  return new Map(rows.map(([, option, fallback]) => [option!, fallback!.trim().replaceAll('`', '')]))
}

/** The words for a value in the column of defaults; null where it takes other words. */
function wordsFor(value: unknown): readonly string[] | null {
  if (value === null || value === undefined) return null
  // Zero stands for it where callers say so.
  if (value === Number.POSITIVE_INFINITY) return ['no limit', 'Infinity', '0']
  const list = value instanceof Set || Array.isArray(value) ? [...(value as Iterable<unknown>)] : null
  if (list !== null) return list.length === 0 ? ['none', '[]'] : [list.join(', '), `['${list.join("', '")}']`]
  if (typeof value === 'string') return [value, `'${value}'`]
  return typeof value === 'object' || typeof value === 'function' ? null : [String(value)]
}

const INTERCEPTOR_PAGES = [
  ['auth', 'docs/auth.md'],
  ['circuitBreaker', 'docs/circuit-breaker.md'],
  ['compress', 'docs/compress.md'],
  ['decompress', 'docs/decompress.md'],
  ['deduplicate', 'docs/deduplicate.md'],
  ['dns', 'docs/dns.md'],
  ['dump', 'docs/dump.md'],
  ['guard', 'docs/guard.md'],
  ['hedge', 'docs/hedge.md'],
  ['metrics', 'docs/metrics.md'],
  ['redirect', 'docs/redirect.md'],
  ['responseError', 'docs/response-error.md'],
  ['retry', 'docs/retry.md'],
  ['throttle', 'docs/throttle.md'],
] as const

/** What some interceptors do not work without. */
const REQUIRED: Record<string, object> = { hedge: { delay: 1 }, metrics: { meter: new Telemetry().meter } }

describe('the options', () => {
  it('each have an entry', () => {
    const places: [file: string, type: string, page: string][] = [
      ['dispatcher/client-options.ts', 'ClientOptions', 'docs/client.md'],
      ['dispatcher/h2c-client.ts', 'H2CClientOptions', 'docs/h2c-client.md'],
      ['dispatcher/pool/options.ts', 'PoolOptions', 'docs/pool.md'],
      ['dispatcher/pool/balanced-pool.ts', 'BalancedPoolOptions', 'docs/balanced-pool.md'],
      ['dispatcher/agent.ts', 'AgentOptions', 'docs/agent.md'],
      ['dispatcher/agent.ts', 'AgentDispatchOptions', 'docs/agent.md'],
      ['proxy/socks5-options.ts', 'Socks5ProxyAgentOptions', 'docs/socks5-proxy-agent.md'],
      ['dispatcher/websocket-options.ts', 'WebSocketOptions', 'docs/websocket.md'],
      ['dispatcher/event-source-options.ts', 'EventSourceOptions', 'docs/event-source.md'],
      ['event-source/declared-event-source.ts', 'EventSourceInit', 'docs/event-source.md'],
      ['event-source/declared-event-source.ts', 'EventSourceNodeOptions', 'docs/event-source.md'],
      ['event-source/stream-options.ts', 'EventStreamOptions', 'docs/event-source.md'],
      ['event-source/events.ts', 'EventsInit', 'docs/events.md'],
      ['event-source/parse-events.ts', 'ParseEventsOptions', 'docs/events.md'],
      ['event-source/server-event.ts', 'ServerEvent', 'docs/events.md'],
      ['event-source/stream-error-event.ts', 'StreamErrorEvent', 'docs/event-source.md'],
      ['net/connector-options.ts', 'BuildConnectorOptions', 'docs/build-connector.md'],
      ['net/connector.ts', 'ConnectorOptions', 'docs/build-connector.md'],
      ['guard/options.ts', 'GuardOptions', 'docs/guard.md'],
      ['guard/options.ts', 'GuardTarget', 'docs/guard.md'],
      ['interceptor/guard/options.ts', 'GuardInterceptorOptions', 'docs/guard.md'],
      ['errors.ts', 'BlockedAddressDetails', 'docs/guard.md'],
      ['request/dispatch-options.ts', 'DispatchOptions', 'docs/dispatcher.md'],
      ['request/dispatch-handler.ts', 'DispatchHandler', 'docs/handlers.md'],
      ['request/dispatch-handler.ts', 'DispatchController', 'docs/handlers.md'],
      ['api/api-handler.ts', 'ApiOptions', 'docs/request.md'],
      ['api/request.ts', 'RequestOptions', 'docs/request.md'],
      ['api/pipeline.ts', 'PipelineOptions', 'docs/pipeline.md'],
      ['api/upgrade.ts', 'UpgradeOptions', 'docs/upgrade.md'],
      ['cache/options.ts', 'CacheOptions', 'docs/cache.md'],
      ['cache/store/memory-store.ts', 'MemoryCacheStoreOptions', 'docs/cache-stores.md'],
      ['cache-storage/query.ts', 'CacheQueryOptions', 'docs/caches.md'],
      ['websocket/websocket-stream.ts', 'WebSocketStreamOptions', 'docs/websocket-stream.md'],
      ['cache/store/sqlite-store.ts', 'SqliteCacheStoreOptions', 'docs/cache-stores.md'],
      ['cache/store/redis-store.ts', 'RedisCacheStoreOptions', 'docs/cache-stores.md'],
      ['websocket/socket-init.ts', 'WebSocketInit', 'docs/websocket.md'],
      ['cookies/cookie.ts', 'Cookie', 'docs/cookies.md'],
      ['cookies/jar/options.ts', 'CookieJarOptions', 'docs/cookie-jar.md'],
      ['cookies/jar/options.ts', 'CookieContext', 'docs/cookie-jar.md'],
      ['cookies/jar/stored-cookie.ts', 'JarCookie', 'docs/cookie-jar.md'],
      ['interceptor/cookies/options.ts', 'CookiesOptions', 'docs/cookie-jar.md'],
      ['interceptor/auth/options.ts', 'AuthUser', 'docs/auth.md'],
      ['interceptor/auth/options.ts', 'BearerContext', 'docs/auth.md'],
      ['interceptor/circuit-breaker/options.ts', 'CircuitBreakerOptions', 'docs/circuit-breaker.md'],
      ['interceptor/compress/options.ts', 'CompressOptions', 'docs/compress.md'],
      ['interceptor/decompress/options.ts', 'DecompressOptions', 'docs/decompress.md'],
      ['interceptor/deduplicate/options.ts', 'DeduplicateOptions', 'docs/deduplicate.md'],
      ['interceptor/dns/options.ts', 'DnsOptions', 'docs/dns.md'],
      ['interceptor/dump/interceptor.ts', 'DumpInterceptorOptions', 'docs/dump.md'],
      ['interceptor/hedge/options.ts', 'HedgeOptions', 'docs/hedge.md'],
      ['interceptor/metrics/options.ts', 'MetricsOptions', 'docs/metrics.md'],
      ['interceptor/redirect/options.ts', 'RedirectOptions', 'docs/redirect.md'],
      ['interceptor/response-error/interceptor.ts', 'ResponseErrorOptions', 'docs/response-error.md'],
      ['interceptor/retry/options.ts', 'RetryOptions', 'docs/retry.md'],
      ['interceptor/throttle/options.ts', 'ThrottleOptions', 'docs/throttle.md'],
      ['redis/shared-store.ts', 'SharedStoreOptions', 'docs/throttle.md'],
      ['errors.ts', 'RequestErrorContext', 'docs/errors.md'],
      ['errors.ts', 'Timings', 'docs/request.md'],
    ]
    for (const [file, type, path] of places) {
      const names = fieldsOf(file, type)
      assert.ok(names.length > 0, type)
      for (const name of names) assert.match(page(path).text, new RegExp(`\\b${name}\\b`), `${type}.${name}`)
    }
  })

  it('of a client have the defaults that are written', () => {
    const settings = readClientOptions({}) as unknown as Record<string, unknown>
    const rows = optionRows('docs/client.md').filter(({ option }) => option in settings)
    assert.ok(rows.length > 20)
    for (const { option, fallback } of rows) {
      const value = settings[option]
      assert.equal(String(value), typeof value === 'number' ? String(Number(fallback)) : fallback, option)
    }
  })

  it('of a client are refused exactly where the table of the page has words for it', () => {
    const rows = optionRows('docs/client.md')
    for (const option of Object.keys(readClientOptions({}))) {
      if (option === 'allowH2Given') continue
      const row = rows.find((row) => row.option === option)
      assert.ok(row, option)
      assert.equal(
        refusalOf(() => readClientOptions({ [option]: Number.NaN })),
        row.refusal,
        option,
      )
    }
  })

  it('of interceptors are rows of their pages', () => {
    for (const [file, type, path] of INTERCEPTOR_TYPES) {
      const rows = defaultsOf(path)
      const names = fieldsOf(file, type).filter((name) => `${type}.${name}` !== IGNORED)
      for (const name of names) assert.ok(rows.has(name), `${type}.${name}`)
    }
    const checked = new Set(INTERCEPTOR_TYPES.map(([file]) => file.split('/')[1]!))
    const folders = readdirSync(join(root, 'src/interceptor'), { withFileTypes: true })
    for (const folder of folders) assert.ok(!folder.isDirectory() || checked.has(folder.name), folder.name)
  })

  it('of interceptors have the defaults that are written', () => {
    for (const [path, settings] of INTERCEPTOR_SETTINGS) {
      const rows = defaultsOf(path)
      let compared = 0
      for (const [name, value] of Object.entries(settings)) {
        const [words, written] = [wordsFor(value), rows.get(name)?.split(';')[0]]
        // Settings may have more names, and a link leads to a longer list.
        if (words === null || /^(undefined|required|\[below\].*)$/.test(String(written))) continue
        assert.ok(words.includes(written!), `${path}: ${name}: ${written}, not ${words.join(' or ')}`)
        compared++
      }
      assert.ok(compared > 1, path)
    }
  })

  it('are refused with the words that are written', () => {
    const makers: [path: string, make: (options: object) => unknown][] = [
      ['docs/client.md', (options) => new Client('http://localhost', options)],
      ['docs/pool.md', (options) => new Pool('http://localhost', options)],
      ['docs/balanced-pool.md', (options) => new BalancedPool([], options)],
      ['docs/agent.md', (options) => new Agent(options)],
      ['docs/cookie-jar.md', cookieOptions],
      ['docs/socks5-proxy-agent.md', (options) => new Socks5ProxyAgent('socks5://localhost', options)],
    ]
    for (const [path, make] of makers) {
      const refused = optionRows(path).filter(({ refusal }) => refusal !== '')
      assert.ok(refused.length > 0)
      for (const { option, refusal } of refused) {
        const expected = { code: 'UND_ERR_INVALID_ARG', message: refusal }
        assert.throws(() => make({ [option]: Number.NaN }), expected, option)
      }
    }
    for (const [name, path] of INTERCEPTOR_PAGES) {
      const required: object = REQUIRED[name] ?? {}
      for (const { option, refusal } of optionRows(path)) {
        const make = (): unknown => interceptors[name]({ ...required, [option]: Number.NaN } as never)
        assert.notEqual(refusal, '', `${name}: ${option}`)
        // One of several, in which words stand for what was given.
        const said = refusalOf(make)
        const isWritten = refusal.split('`, `').some((one) => {
          const [before, after] = one.split(/<\w+>|…/) as [string, string?]
          return after === undefined ? said === one : said.startsWith(before) && said.endsWith(after)
        })
        assert.ok(isWritten, `${name}: ${option}: ${said}`)
      }
    }
    for (const [options, row] of [
      [{ maxConcurrentStreams: 1.5 }, 0],
      [{ pipelining: 2, maxConcurrentStreams: 1 }, 1],
      [{ connect: 'x' }, 2],
    ] as const) {
      const { refusal } = optionRows('docs/h2c-client.md')[row]!
      assert.throws(() => new H2CClient('http://localhost', options as object), { message: refusal })
    }
  })
})
