/** Options that nobody knows: a warning of the process, once for each name, and never an error. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as library from '../src/index.ts'
import { OptionNames } from '../src/option-names.ts'
import { sourceLoader, sourceUrl } from './support/sources.ts'
import { Telemetry } from './support/telemetry.ts'

interface Warning extends Error {
  readonly code?: string
}

/** What the process warns of while the function runs. */
async function warningsOf(run: () => unknown): Promise<Warning[]> {
  const warnings: Warning[] = []
  const listener = (warning: Warning): unknown =>
    warning.code === 'VENTUNO_UNKNOWN_OPTION' && warnings.push(warning)
  process.on('warning', listener)
  try {
    await run()
    await turn()
  } finally {
    process.off('warning', listener)
  }
  return warnings
}

async function messagesOf(run: () => unknown): Promise<string[]> {
  return (await warningsOf(run)).map(({ message }) => message)
}

async function startServer(t: TestContext): Promise<string> {
  const server = createServer((request, response) => request.pipe(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('options of other clients in request(): each name once, with what to use', async (t) => {
  const url = await startServer(t)
  const opts = {
    method: 'POST',
    json: { a: 1 },
    timeout: 100,
    params: { q: 1 },
    headerTimeout: 5,
    maxRetry: 2,
  }
  const call = async () => (await library.request(url, opts as object)).body.text()
  const messages = await messagesOf(async () => {
    assert.equal(await call(), '')
    await call()
  })
  assert.deepEqual(messages, [
    '`json` is not an option of request(): did you mean body: JSON.stringify(…), with a content-type header?',
    '`timeout` is not an option of request(): did you mean headersTimeout and bodyTimeout, or signal: AbortSignal.timeout(…)?',
    '`params` is not an option of request(): did you mean query?',
    '`headerTimeout` is not an option of request(): did you mean headersTimeout?',
    '`maxRetry` is not an option of request(): did you mean interceptors.retry(), and retryOptions?',
  ])
})

test('the methods of a dispatcher, and the other functions: the stack begins at the caller', async (t) => {
  const url = await startServer(t)
  const client = new library.Client(url)
  t.after(() => client.close())
  const opts = (name: string): { path: string; method: string } => ({ path: '/', method: 'GET', [name]: 1 })
  const warnings = await warningsOf(async () => {
    await (await client.request(opts('searchParams'))).body.dump()
    await client
      .stream(opts('prefixUrl'), () => new (class extends library.Client {})(url) as never)
      .catch(() => {})
    client.pipeline(opts('responseType'), ({ body }) => body).destroy()
    await library.upgrade(url, opts('jar') as object).catch(() => {})
    await library.connect(url, opts('gzip') as object).catch(() => {})
  })
  assert.deepEqual(
    warnings.map(({ message }) => message.slice(0, message.indexOf(':'))),
    [
      '`searchParams` is not an option of request()',
      '`prefixUrl` is not an option of stream()',
      '`responseType` is not an option of pipeline()',
      '`jar` is not an option of upgrade()',
      '`gzip` is not an option of connect()',
    ],
  )
  for (const { stack } of warnings) assert.match(stack!.split('\n')[1]!, /option-names\.test/)
})

test('fetch: its init, but not a Request, which has a method json()', async (t) => {
  const url = await startServer(t)
  const init = { json: {}, agent: {}, qs: 'a', Body: 1, next: { revalidate: 1 } }
  const messages = await messagesOf(async () => {
    await library.fetch(url, init as object)
    await library.fetch(url, new library.Request(url))
  })
  assert.deepEqual(messages, [
    '`json` is not an option of fetch(): did you mean body: JSON.stringify(…), with a content-type header?',
    '`agent` is not an option of fetch(): did you mean dispatcher?',
    '`qs` is not an option of fetch(): did you mean the query of the URL?',
    '`Body` is not an option of fetch(): did you mean body?',
  ])
})

test('clients, pools, agents and proxies', async () => {
  const { Agent, Client, EnvHttpProxyAgent, Pool, ProxyAgent, RetryAgent } = library
  const messages = await messagesOf(() => {
    new Client('http://a.test', { requestTimeOut: 1, socketpath: '/x' } as object)
    new Pool('http://a.test', { connection: 5, maxSockets: 5, maxConnections: 5 } as object)
    new Agent({ maxConnections: 5, maxIdleConnections: 5, maxConnectionsWait: 5 })
    new Agent({ maxOrigin: 1, rejectUnauthorized: false } as object)
    new ProxyAgent({ uri: 'http://a.test', proxyTLS: {} } as never)
    new EnvHttpProxyAgent({ noProxi: 'a.test' } as object)
    new Client('http://a.test', { connect: { rejectUnauthorised: false } as object })
    new RetryAgent(new Agent(), { retries: 1 } as object)
  })
  assert.deepEqual(messages, [
    '`socketpath` is not an option of a client, pool or agent: did you mean socketPath?',
    '`connection` is not an option of a client, pool or agent: did you mean connections?',
    '`maxSockets` is not an option of a client, pool or agent: did you mean connections of a Pool or Agent?',
    '`maxConnections` is not an option of a client, pool or agent: did you mean connections, or maxConnections of an Agent?',
    '`maxOrigin` is not an option of a client, pool or agent: did you mean maxOrigins?',
    '`rejectUnauthorized` is not an option of a client, pool or agent: did you mean connect: { … }?',
    '`proxyTLS` is not an option of a client, pool or agent: did you mean proxyTls?',
    '`noProxi` is not an option of a client, pool or agent: did you mean noProxy?',
    '`rejectUnauthorised` is not an option of connect: did you mean rejectUnauthorized?',
    '`retries` is not an option of interceptors.retry(): did you mean maxRetries?',
  ])
})

describe('interceptors', () => {
  const wrong: Record<string, [given: object, message: string]> = {
    cache: [{ stores: 1 }, 'store'],
    circuitBreaker: [{ treshold: 0.5 }, 'threshold'],
    cookies: [{ jars: 1 }, ''],
    decompress: [{ maxRation: 1 }, 'maxRatio'],
    deduplicate: [{ skipHeaderName: [] }, 'skipHeaderNames'],
    dns: [{ maxTtl: 1 }, 'maxTTL'],
    dump: [{ maxsize: 1 }, 'maxSize'],
    hedge: [{ delay: 1, maxAttempt: 2 }, 'maxAttempts'],
    metrics: [{ meter: new Telemetry().meter, detail: true }, 'details'],
    redirect: [{ maxRedirects: 3 }, 'maxRedirections'],
    responseError: [{ maxsize: 1 }, 'maxSize'],
    retry: [{ maxRetry: 3 }, 'maxRetries'],
    throttle: [{ concurency: 1 }, 'concurrency'],
  }
  for (const [name, [given, advice]] of Object.entries(wrong)) {
    test(name, async () => {
      const make = library.interceptors[name as 'retry'] as (options: object) => unknown
      const messages = await messagesOf(() => make(given))
      const expected = `is not an option of interceptors.${name}(): did you mean ${advice}?`
      assert.equal(messages.length, advice === '' ? 0 : 1)
      if (advice !== '') assert.ok(messages[0]!.endsWith(expected), messages[0])
    })
  }
})

test('names that may be somebody’s own, that undici takes, or that are not given: silence', async (t) => {
  const url = await startServer(t)
  const opts = {
    ...{ _timeout: 1, $json: 1, 'x-timeout': 1, 'my.timeout': 1, 'my:timeout': 1, [Symbol('timeout')]: 1 },
    ...{ tenant: 'a', traceId: 'b', retryCount: 1, data: undefined, auth: null },
    ...{ throwOnError: null, objectMode: true, allowH2: true, maxRedirections: 0, cookies: false },
  }
  const messages = await messagesOf(async () => {
    await (await library.request(url, opts as object)).body.dump()
    await (await library.request(new URL(url))).body.dump()
    new library.Pool(url, { clientTtl: 1, interceptors: {} } as object)
  })
  assert.deepEqual(messages, [])
})

test('options of events(), which fetch does not know', async (t) => {
  const url = await startServer(t)
  const messages = await messagesOf(async () => {
    await library
      .events(url, { maxRetries: 0, comments: true, idleTimeout: 1000 })
      .next()
      .catch(() => {})
  })
  assert.deepEqual(messages, [])
})

test('options that throw when they are listed: never an error of ours', async (t) => {
  const url = await startServer(t)
  const client = new library.Client(url)
  t.after(() => client.close())
  const opts = new Proxy(
    { path: '/', method: 'GET' },
    {
      ownKeys() {
        throw new Error('not to be listed')
      },
    },
  )
  const { statusCode, body } = await client.request(opts)
  await body.dump()
  assert.equal(statusCode, 200)
})

test('a caller that makes names: they are not remembered without end', async () => {
  const names = new OptionNames('a test', { something: 1 })
  const messages = await messagesOf(() => {
    for (let i = 0; i < 10_000; i++) names.check({ [`name${i}`]: 1 })
    names.check({ somethin: 1 })
  })
  assert.deepEqual(messages, [])
})

test('a name that comes later than the known ones, in any order', async () => {
  const names = new OptionNames('a test', { first: 1, second: 1, third: 1 })
  const messages = await messagesOf(() => {
    names.check({ first: 1, second: 1 })
    names.check({ second: 1, first: 1 })
    names.check({ first: 1, secnd: 1, second: 1 })
    names.check({ first: 1, second: 1, thirds: 1 })
  })
  assert.deepEqual(messages, [
    '`secnd` is not an option of a test: did you mean second?',
    '`thirds` is not an option of a test: did you mean third?',
  ])
})

describe('silenced', () => {
  const script = `
    import { Client } from '${sourceUrl('src/index.ts')}'
    new Client('http://a.test', { maxSockets: 1 })
  `
  const run = async (args: string[], env: object): Promise<string> => {
    const all = [...args, ...sourceLoader, '--input-type=module', '--eval', script]
    const { stderr } = await promisify(execFile)(process.execPath, all, {
      env: { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '', ...env },
    })
    return stderr
  }

  test('not at all by default', async () => {
    assert.match(await run([], {}), /\[VENTUNO_UNKNOWN_OPTION\] UnknownOptionWarning: `maxSockets` is not/)
  })
  test('by --no-warnings', async () => assert.equal(await run(['--no-warnings'], {}), ''))
  test('by VENTUNO_NO_OPTION_WARNINGS', async () => {
    assert.equal(await run([], { VENTUNO_NO_OPTION_WARNINGS: '1' }), '')
  })
})
