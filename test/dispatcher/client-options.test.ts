import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { readClientOptions } from '../../src/dispatcher/client-options.ts'
import { Agent, Client, type ClientOptions, errors, H2CClient, Pool } from '../../src/index.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { send, startPair } from '../support/scripted-client.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

const ORIGIN = 'http://localhost:1'

const make = (options: unknown): Client => new Client(ORIGIN, options as ClientOptions)

const refused = (message: string): object => ({
  name: 'InvalidArgumentError',
  code: 'UND_ERR_INVALID_ARG',
  message,
})

/** Option, message, refused values, accepted values. */
type Row = readonly [name: string, message: string, bad: readonly unknown[], good: readonly unknown[]]

const notFinite = ['1', true, {}, [], Number.NaN, Infinity] as const

const ROWS: readonly Row[] = [
  ['maxHeaderSize', 'invalid maxHeaderSize', [0, -1, 1.5, '1', Number.NaN, true], [1, 16384]],
  ['socketPath', 'invalid socketPath', [1, true, {}], ['/run/x.sock']],
  ['connectTimeout', 'invalid connectTimeout', [...notFinite, -1], [0, 0.5, 1000]],
  ['keepAliveTimeout', 'invalid keepAliveTimeout', [...notFinite, 0, -1], [0.5, 1]],
  ['keepAliveMaxTimeout', 'invalid keepAliveMaxTimeout', [...notFinite, 0, -1], [0.5, 1]],
  ['keepAliveTimeoutThreshold', 'invalid keepAliveTimeoutThreshold', notFinite, [-5, 0, 1.5]],
  [
    'headersTimeout',
    'headersTimeout must be a positive integer or zero',
    [...notFinite, -1, 0.5],
    [0, 1, 300e3],
  ],
  ['bodyTimeout', 'bodyTimeout must be a positive integer or zero', [...notFinite, -1, 0.5], [0, 1]],
  [
    'connect',
    'connect must be a function or an object',
    [false, true, 0, 1, '', 'x', Symbol('x')],
    [{}, () => {}],
  ],
  ['maxRequestsPerClient', 'maxRequestsPerClient must be a positive number', [...notFinite, -1, 0.5], [0, 1]],
  [
    'localAddress',
    'localAddress must be valid string IP address',
    [1, '', 'localhost', '1.2.3', {}],
    ['127.0.0.1', '::1'],
  ],
  ['maxResponseSize', 'maxResponseSize must be a positive number', [...notFinite, -2, 0.5], [-1, 0, 1]],
  [
    'autoSelectFamilyAttemptTimeout',
    'autoSelectFamilyAttemptTimeout must be a positive number',
    [...notFinite, -2, 0.5],
    [-1, 0, 250],
  ],
  ['allowH2', 'allowH2 must be a valid boolean value', [0, 1, '', 'true', {}], [true, false]],
  ['useH2c', 'useH2c must be a valid boolean value', [0, 1, '', 'true', {}], [true, false]],
  [
    'maxConcurrentStreams',
    'maxConcurrentStreams must be a positive integer, greater than 0',
    ['1', 0, -1, Number.NaN, {}],
    [1, 1.5, 100],
  ],
  [
    'initialWindowSize',
    'initialWindowSize must be a positive integer, greater than 0',
    [...notFinite, 0, -1, 1.5],
    [1, 262144],
  ],
  [
    'connectionWindowSize',
    'connectionWindowSize must be a positive integer, greater than 0',
    [...notFinite, 0, -1, 1.5],
    [1, 524288],
  ],
  [
    'pingInterval',
    'pingInterval must be a positive integer, greater or equal to 0',
    [...notFinite, -1, 1.5],
    [0, 60e3],
  ],
  [
    'maxCachedSessions',
    'maxCachedSessions must be a positive integer or zero',
    [...notFinite, -1, 1.5],
    [0, 100],
  ],
]

/** Inside `h2Options`, in the order of the checks: path, message, refused values, accepted values. */
const GROUPED: readonly Row[] = [
  ['useH2c', 'must be a valid boolean value', [0, 1, '', 'true', {}], [true, false]],
  [
    'settings.initialWindowSize',
    'must be a positive integer, greater than 0',
    [...notFinite, 0, -1, 1.5],
    [1, 262144],
  ],
  [
    'maxConcurrentStreams',
    'must be a positive integer, greater than 0',
    [...notFinite, 0, -1, 1.5],
    [1, 5, 100],
  ],
  ['connectionWindowSize', 'must be a positive integer, greater than 0', [...notFinite, 0, -1, 1.5], [1]],
  ['pingInterval', 'must be a positive integer, greater or equal to 0', [...notFinite, -1, 1.5], [0, 1]],
]

const RETIRED = [
  ['keepAlive', 'unsupported keepAlive, use pipelining=0 instead'],
  ['socketTimeout', 'unsupported socketTimeout, use headersTimeout & bodyTimeout instead'],
  ['requestTimeout', 'unsupported requestTimeout, use headersTimeout & bodyTimeout instead'],
  ['idleTimeout', 'unsupported idleTimeout, use keepAliveTimeout instead'],
  ['maxKeepAliveTimeout', 'unsupported maxKeepAliveTimeout, use keepAliveMaxTimeout instead'],
] as const

describe('options of a client', () => {
  for (const [name, message, bad, good] of ROWS) {
    test(name, () => {
      for (const value of bad) {
        assert.throws(() => make({ [name]: value }), refused(message), `${String(value)} must be refused`)
      }
      for (const value of [...good, null, undefined]) make({ [name]: value })
    })
  }

  for (const [name, message] of RETIRED) {
    test(`${name} is no longer an option`, () => {
      for (const value of [null, false, 0, 1, true]) {
        assert.throws(() => make({ [name]: value }), refused(message))
      }
      make({ [name]: undefined })
    })
  }

  test('are checked in their order, and before the url', () => {
    const options: Record<string, unknown> = {}
    for (const [name, , bad] of ROWS) options[name] = bad[0]
    for (const [name] of RETIRED) options[name] = null
    for (const [name, message] of RETIRED) {
      assert.throws(() => new Client('no url', options as ClientOptions), refused(message))
      delete options[name]
    }
    for (const [name, message] of ROWS) {
      assert.throws(() => new Client('no url', options as ClientOptions), refused(message))
      delete options[name]
    }
    assert.throws(() => new Client('no url', options as ClientOptions), { code: 'ERR_INVALID_URL' })
  })

  for (const [path, rule, bad, good] of GROUPED) {
    const group = (value: unknown): object => {
      const [first, second] = path.split('.') as [string, string?]
      return { h2Options: { [first]: second === undefined ? value : { [second]: value } } }
    }
    test(`h2Options.${path}`, () => {
      for (const value of bad) {
        const message = `h2Options.${path} ${rule}`
        assert.throws(() => make(group(value)), refused(message), `${String(value)} must be refused`)
        assert.throws(() => new H2CClient(ORIGIN, group(value)), refused(message))
        assert.throws(() => new Pool(ORIGIN, group(value)), refused(message))
        assert.throws(
          () =>
            new Agent(group(value)).dispatch(
              { origin: ORIGIN, path: '/', method: 'GET' },
              new RecordingHandler(),
            ),
          refused(message),
        )
        make({ ...group(value), allowH2: false })
      }
      for (const value of [...good, null, undefined]) make(group(value))
    })
  }

  test('those in h2Options are checked in their order, and before maxCachedSessions', () => {
    const h2Options: Record<string, unknown> = {}
    for (const [path, , bad] of GROUPED) {
      const [first, second] = path.split('.') as [string, string?]
      h2Options[first] = second === undefined ? bad[0] : { [second]: bad[0] }
    }
    for (const [path, rule] of GROUPED) {
      assert.throws(() => make({ h2Options, maxCachedSessions: -1 }), refused(`h2Options.${path} ${rule}`))
      delete h2Options[path.split('.')[0]!]
    }
  })

  test('h2Options wins over the flat options, which count where it says nothing', () => {
    const flat = {
      useH2c: false,
      maxConcurrentStreams: 1,
      initialWindowSize: 2,
      connectionWindowSize: 3,
      pingInterval: 4,
    }
    const pick = (options: ClientOptions): number[] => {
      const settings = readClientOptions(options)
      const { useH2c, maxConcurrentStreams, initialWindowSize, connectionWindowSize, pingInterval } = settings
      return [Number(useH2c), maxConcurrentStreams, initialWindowSize, connectionWindowSize, pingInterval]
    }
    const h2Options = {
      useH2c: true,
      maxConcurrentStreams: 5,
      connectionWindowSize: 7,
      pingInterval: 0,
      settings: { initialWindowSize: 6 },
    }
    assert.deepEqual(pick({ ...flat, h2Options }), [1, 5, 6, 7, 0])
    assert.deepEqual(pick({ h2Options }), [1, 5, 6, 7, 0])
    assert.deepEqual(pick({ ...flat, h2Options: {} }), [0, 1, 2, 3, 4])
    assert.deepEqual(pick({ ...flat, h2Options: { settings: null, pingInterval: null } }), [0, 1, 2, 3, 4])
    for (const nothing of [null, undefined, 1, 'x', true, []]) {
      assert.deepEqual(pick({ ...flat, h2Options: nothing as never }), [0, 1, 2, 3, 4])
    }
    // A window of the connection that nobody has named holds no stream back.
    assert.deepEqual(pick({ initialWindowSize: 1e6 }).slice(2, 4), [1e6, 1e6])
    assert.deepEqual(pick({ initialWindowSize: 6 }).slice(2, 4), [6, 524_288])
    assert.deepEqual(pick({ initialWindowSize: 1e6, connectionWindowSize: 7 }).slice(2, 4), [1e6, 7])
    // Unused options are not validated, as in undici.
    make({ maxConcurrentStreams: 0, h2Options: { maxConcurrentStreams: 1 } })
  })

  test('those of HTTP/2 are not looked at when it is not allowed', () => {
    make({
      allowH2: false,
      useH2c: 1,
      maxConcurrentStreams: 0,
      initialWindowSize: 0,
      connectionWindowSize: 0,
      pingInterval: -1,
    })
  })

  test('maxCachedSessions is also checked inside connect, and not looked at with a connect function', () => {
    assert.throws(
      () => make({ connect: { maxCachedSessions: -1 } }),
      refused('maxCachedSessions must be a positive integer or zero'),
    )
    make({ maxCachedSessions: -1, connect: () => {} })
  })

  test('the rest is not checked, and unknown ones are ignored', () => {
    make({
      pipelining: 'x',
      strictContentLength: 'x',
      autoSelectFamily: 'x',
      webSocket: 'x',
      maxRedirections: 1,
      throwOnError: true,
      interceptors: {},
    })
  })

  test('may be left out, but not null', () => {
    new Client(ORIGIN)
    make(undefined)
    assert.throws(() => make(null), TypeError)
  })

  test('count only when they are own properties', (t) => {
    const prototype = Object.prototype as unknown as Record<string, unknown>
    t.after(() => {
      for (const [name] of [...ROWS, ...RETIRED]) delete prototype[name]
    })
    for (const [name, , bad] of ROWS) prototype[name] = bad[0]
    for (const [name] of RETIRED) prototype[name] = 1
    make({})
    assert.deepEqual(readClientOptions({}).connect, null)
  })

  test('a polluted prototype does not choose where a client connects, or how', async (t) => {
    const { server, client } = await startPair(t)
    const prototype = Object.prototype as unknown as Record<string, unknown>
    const polluted = ['socketPath', 'path', 'host', 'servername', 'timeout', 'pipelining', 'webSocket']
    t.after(() => {
      for (const name of polluted) delete prototype[name]
    })
    for (const name of polluted) prototype[name] = '/x'
    const fresh = new Client(server.url)
    assert.equal(fresh.pipelining, 1)
    assert.deepEqual(fresh.webSocketOptions, client.webSocketOptions)
    const connected = once(fresh, 'connect')
    send(fresh)
    await connected
    for (const name of polluted) delete prototype[name]
    await fresh.destroy()
  })

  test('have the defaults that are written down', () => {
    const settings = readClientOptions({})
    assert.deepEqual(
      {
        ...settings,
        maxHeaderSize: undefined,
      },
      {
        bodyTimeout: 300e3,
        headersTimeout: 300e3,
        requestBodyTimeout: 0,
        expectContinueTimeout: 1_000,
        keepAliveTimeout: 4e3,
        keepAliveMaxTimeout: 600e3,
        keepAliveTimeoutThreshold: 2e3,
        maxHeaderSize: undefined,
        maxResponseSize: -1,
        pipelining: 1,
        connectTimeout: 10e3,
        strictContentLength: true,
        maxRequestsPerClient: 0,
        socketPath: null,
        localAddress: null,
        autoSelectFamily: null,
        autoSelectFamilyAttemptTimeout: null,
        maxCachedSessions: 100,
        allowH2: true,
        allowH2Given: false,
        useH2c: false,
        maxConcurrentStreams: 100,
        initialWindowSize: 262144,
        connectionWindowSize: 524288,
        pingInterval: 60e3,
        connect: null,
        tls: null,
      },
    )
  })

  test('maxHeaderSize follows the setting of the runtime, and 16384 when that is of no use', () => {
    const module = sourceUrl('src/dispatcher/client-options.ts')
    const script = `import { readClientOptions } from ${JSON.stringify(module)}
      console.log(readClientOptions({}).maxHeaderSize)`
    for (const [flag, expected] of [
      ['--max-http-header-size=20000', '20000'],
      ['--max-http-header-size=0', '16384'],
    ] as const) {
      const { stdout, stderr } = spawnSync(
        process.execPath,
        [flag, ...sourceLoader, '--input-type=module', '-e', script],
        { encoding: 'utf8' },
      )
      assert.equal(stdout.trim(), expected, stderr)
    }
  })
})

describe('the url of a client', () => {
  const cases: readonly (readonly [input: unknown, message: string])[] = [
    ['ftp://localhost', 'Invalid URL protocol: the URL must start with `http:` or `https:`.'],
    ['http://localhost/path', 'invalid url'],
    ['http://localhost/?query', 'invalid url'],
    ['http://localhost/#hash', 'invalid url'],
    [new URL('http://localhost/path'), 'invalid url'],
    [null, 'Invalid URL: The URL argument must be a non-null object.'],
    [undefined, 'Invalid URL: The URL argument must be a non-null object.'],
    [1, 'Invalid URL: The URL argument must be a non-null object.'],
    [
      { protocol: 'http:', hostname: 'a', port: 'x' },
      'Invalid URL: port must be a valid integer or a string representation of an integer.',
    ],
    [
      { protocol: 'http:', hostname: 'a', path: 1 },
      'Invalid URL path: the path must be a string or null/undefined.',
    ],
    [{ hostname: 'a' }, 'Invalid URL protocol: the URL must start with `http:` or `https:`.'],
  ]
  for (const [input, message] of cases) {
    test(`${typeof input === 'object' ? JSON.stringify(input) : String(input)}: ${message}`, () => {
      assert.throws(() => new Client(input as string), refused(message))
    })
  }

  test('a string that is no URL at all raises the error of the engine', () => {
    assert.throws(() => new Client('not a url'), { name: 'TypeError', code: 'ERR_INVALID_URL' })
  })

  test('Client is a class', () => {
    assert.throws(() => (Client as unknown as (url: string) => void)(ORIGIN), TypeError)
    assert.ok(new Client(ORIGIN) instanceof Client)
  })

  test('the same URL object arrives in events', async (t) => {
    const { server } = await startPair(t)
    const url = new URL(server.url)
    const client = new Client(url)
    t.after(() => client.destroy())
    const connected = once(client, 'connect')
    client.request({ path: '/', method: 'GET' }).catch(() => {})
    const [origin, targets] = (await connected) as [URL, unknown[]]
    assert.equal(origin, url)
    assert.deepEqual(targets, [client])
  })

  test('a user and password in it are ignored', async (t) => {
    const { server } = await startPair(t)
    const client = new Client(`http://me:secret@127.0.0.1:${server.port}`)
    t.after(() => client.destroy())
    const answer = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    const head = await connection.head()
    assert.doesNotMatch(head, /authorization|secret/i)
    assert.match(head, new RegExp(`\\r\\nhost: 127\\.0\\.0\\.1:${server.port}\\r\\n`))
    connection.send('HTTP/1.1 204 No Content\r\n\r\n')
    await (await answer).body.dump()
  })

  test('a URL-like object names the origin too', async (t) => {
    const { server } = await startPair(t)
    const client = new Client({ protocol: 'http:', hostname: '127.0.0.1', port: server.port })
    t.after(() => client.destroy())
    const answer = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    connection.send('HTTP/1.1 204 No Content\r\n\r\n')
    assert.equal((await answer).statusCode, 204)
  })
})

test('errors of arguments are of the public class', () => {
  assert.throws(() => make({ maxHeaderSize: 0 }), errors.InvalidArgumentError)
})
