/** The snapshot agent: recording, replaying, files, and what is stored of secrets. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib'
import {
  errors,
  fetch,
  MockAgent,
  type RequestInit,
  SnapshotAgent,
  type SnapshotAgentOptions,
  type SnapshotData,
} from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { FROM_UNDICI } from './undici-snapshots.ts'

function fileFor(t: TestContext, name = 'snapshots.json'): string {
  const folder = mkdtempSync(join(tmpdir(), 'snapshots-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, name)
}

interface Server {
  readonly url: string
  hits: number
}

async function countingServer(t: TestContext): Promise<Server> {
  const origin = await startOrigin(t, WIRES[0]!, (request, response) => {
    let body = ''
    request.setEncoding('latin1').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      server.hits++
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.setHeader('x-refresh-token', 'hidden')
      response.setHeader('x-plain', 'shown')
      response.end(`${request.method} ${request.url} ${body} ${server.hits}`)
    })
  })
  const server: Server = { url: origin.url, hits: 0 }
  return server
}

function snapshots(t: TestContext, options: SnapshotAgentOptions): SnapshotAgent {
  const agent = new SnapshotAgent(options)
  t.after(() => agent.destroy())
  return agent
}

async function text(agent: SnapshotAgent, origin: string, options: object = {}): Promise<string> {
  const { body } = await agent.request({ origin, path: '/', method: 'GET', ...options })
  return body.text()
}

function stored(path: string): SnapshotData[] {
  return JSON.parse(readFileSync(path, 'utf8')) as SnapshotData[]
}

describe('the options', () => {
  test('the options of a snapshot agent are checked', () => {
    for (const [options, message] of [
      [{ mode: 'x' }, 'Invalid snapshot mode: x. Must be one of: record, playback, update'],
      [{ mode: 'playback' }, "snapshotPath is required when mode is 'playback'"],
      [{ mode: 'update' }, "snapshotPath is required when mode is 'update'"],
    ] as const) {
      assert.throws(() => new SnapshotAgent(options as object), { name: 'InvalidArgumentError', message })
    }
  })

  test('a snapshot agent emits no warning, and record is the default', async (t) => {
    const warnings: Error[] = []
    const note = (warning: Error): number => warnings.push(warning)
    process.on('warning', note)
    t.after(() => process.off('warning', note))
    const agent = snapshots(t, {})
    assert.equal(agent.getMode(), 'record')
    await new Promise(setImmediate)
    assert.deepEqual(warnings, [])
    const expected = { name: 'InvalidArgumentError', message: 'Snapshot path is required' }
    await assert.rejects(agent.saveSnapshots(), expected)
    await assert.rejects(agent.loadSnapshots(), expected)
  })
})

describe('record and playback', () => {
  test('playback: the n-th use gets the n-th response, then the last, without a server', async (t) => {
    const server = await countingServer(t)
    const path = fileFor(t)
    const recording = snapshots(t, { snapshotPath: path })
    assert.equal(await text(recording, server.url), 'GET /  1')
    assert.equal(await text(recording, server.url), 'GET /  2')
    assert.equal(await text(recording, server.url, { method: 'POST', body: 'x' }), 'POST / x 3')
    await recording.close()
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
    agent.disableNetConnect()
    const texts = []
    for (let i = 0; i < 3; i++) texts.push(await text(agent, server.url))
    assert.deepEqual(texts, ['GET /  1', 'GET /  2', 'GET /  2'])
    agent.resetCallCounts()
    assert.equal(await text(agent, server.url), 'GET /  1')
    assert.equal(await text(agent, server.url, { method: 'POST', body: Readable.from(['x']) }), 'POST / x 3')
    assert.equal(server.hits, 3)
    assert.deepEqual(agent.pendingInterceptors(), [])
  })

  test('a request on a pool, and through fetch, finds what request has recorded, and the reverse', async (t) => {
    const server = await countingServer(t)
    const path = fileFor(t)
    const recording = snapshots(t, { snapshotPath: path })
    await text(recording, server.url, { path: '/one' })
    await (await fetch(`${server.url}/two`, { dispatcher: recording, method: 'POST', body: 'b' })).text()
    await recording.close()
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
    const response = await fetch(`${server.url}/one`, { dispatcher: agent })
    assert.equal(await response.text(), 'GET /one  1')
    const own = await agent.get(server.url).request({ path: '/one', method: 'GET' })
    assert.equal(await own.body.text(), 'GET /one  1')
    assert.equal(await text(agent, server.url, { path: '/two', method: 'POST', body: 'b' }), 'POST /two b 2')
  })

  test('a request without a snapshot fails, and the nearest are named', async (t) => {
    const agent = snapshots(t, { mode: 'playback', snapshotPath: fileFor(t) })
    agent.replaceSnapshots(FROM_UNDICI)
    const error = await failure(text(agent, 'http://127.0.0.1:45871', { path: '/x' }))
    assert.ok(error instanceof errors.UndiciError)
    assert.deepEqual(error.message.split('\n'), [
      'No snapshot found for GET /x',
      'Nearest:  GET http://127.0.0.1:45871/a?b=<1 characters>&a=<1 characters>',
      '          GET http://127.0.0.1:45871/g',
    ])
  })

  test('the mode update replays, and records what it has not', async (t) => {
    const server = await countingServer(t)
    const path = fileFor(t)
    for (const expected of ['GET /  1', 'GET /  1']) {
      const agent = snapshots(t, { mode: 'update', snapshotPath: path })
      assert.equal(await text(agent, server.url), expected)
      assert.equal(await text(agent, server.url), expected)
      await agent.close()
    }
    assert.equal(server.hits, 1)
  })

  test('interceptors come before snapshots, and net connect holds', async (t) => {
    const server = await countingServer(t)
    const agent = snapshots(t, {})
    agent.disableNetConnect()
    agent.get(server.url).intercept({ path: '/' }).reply(200, 'mocked')
    assert.equal(await text(agent, server.url), 'mocked')
    assert.equal((await failure(text(agent, server.url))).code, 'UND_MOCK_ERR_MOCK_NOT_MATCHED')
    assert.equal(server.hits, 0)
  })

  test('in snapshots set-cookie stays an array, and bytes that are not text stay bytes', async (t) => {
    const server = await countingServer(t)
    const path = fileFor(t)
    const recording = snapshots(t, { snapshotPath: path, secrets: 'keep' })
    const bytes = Buffer.from([0xff, 0xfe, 0x41])
    await text(recording, server.url, { method: 'POST', body: bytes })
    await recording.close()
    const [{ snapshot }] = stored(path) as [SnapshotData]
    assert.deepEqual(snapshot.responses[0]!.headers['set-cookie'], ['a=1', 'b=2'])
    assert.deepEqual(
      [snapshot.request.body, snapshot.request.bodyEncoding],
      [bytes.toString('base64'), 'base64'],
    )
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
    const { headers } = await agent.request({
      origin: server.url,
      path: '/',
      method: 'POST',
      body: Readable.from([bytes]),
    })
    assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2'])
    await assert.rejects(
      text(agent, server.url, { method: 'POST', body: Buffer.from([0xff]) }),
      /No snapshot/,
    )
  })
})

describe('what is compared and stored', () => {
  const headers = { 'X-A': '1', 'X-B': '2', 'X-Plain': '3' }

  test('matchHeaders, ignoreHeaders, excludeHeaders, caseSensitive', async (t) => {
    const server = await countingServer(t)
    const cases: [SnapshotAgentOptions, string[]][] = [
      [{}, ['x-a', 'x-b', 'x-plain']],
      [{ matchHeaders: ['X-A'] }, ['x-a']],
      [{ ignoreHeaders: ['X-A'] }, ['x-b', 'x-plain']],
      [{ excludeHeaders: ['X-Plain'] }, ['x-a', 'x-b']],
      [{ ignoreHeaders: ['X-A'], caseSensitive: true }, ['x-a', 'x-b', 'x-plain']],
    ]
    for (const [options, names] of cases) {
      const agent = snapshots(t, options)
      await text(agent, server.url, { headers })
      const [{ request, responses }] = agent.getRecorder().getSnapshots() as [SnapshotData['snapshot']]
      assert.deepEqual(Object.keys(request.headers), names)
      assert.equal(responses[0]!.headers['x-plain'], options.excludeHeaders ? undefined : 'shown')
    }
  })

  test('bodies and queries are compared as they are or normalised', async (t) => {
    const server = await countingServer(t)
    const post = { method: 'POST', path: '/?b=2&a=1', body: 'Text' }
    for (const [options, url, body] of [
      [{}, '/?b=2&a=1', 'Text'],
      [{ matchBody: false, matchQuery: false }, '/', ''],
      [{ normalizeBody: (given) => String(given).toLowerCase() }, '/?b=2&a=1', 'text'],
      [{ normalizeQuery: () => 'fixed' }, '/?fixed', 'Text'],
    ] as [SnapshotAgentOptions, string, string][]) {
      const agent = snapshots(t, options)
      await text(agent, server.url, post)
      const info = agent.getSnapshotInfo({ origin: server.url, ...post })!
      assert.deepEqual([info.request.url, info.request.body], [`${server.url}${url}`, body])
      assert.deepEqual([info.responseCount, info.callCount], [1, 0])
    }
  })

  test('shouldRecord, shouldPlayback and excludeUrls', async (t) => {
    const server = await countingServer(t)
    const path = fileFor(t)
    const recording = snapshots(t, {
      snapshotPath: path,
      shouldRecord: ({ path }) => path !== '/unstored',
      excludeUrls: ['/EXCLUDED', /secret$/],
    })
    for (const place of ['/', '/unstored', '/excluded', '/secret'])
      await text(recording, server.url, { path: place })
    assert.equal(recording.getRecorder().size(), 1)
    await recording.close()
    const agent = snapshots(t, {
      mode: 'playback',
      snapshotPath: path,
      shouldPlayback: ({ headers }) => headers === undefined,
      excludeUrls: ['/excluded'],
    })
    await text(agent, server.url)
    await text(agent, server.url, { path: '/excluded' })
    assert.equal(server.hits, 5)
    await assert.rejects(text(agent, server.url, { headers: {} }), /No snapshot found for GET \//)
  })

  test('maxSnapshots drops the oldest', async (t) => {
    const server = await countingServer(t)
    const agent = snapshots(t, { maxSnapshots: 2 })
    for (const path of ['/1', '/2', '/3']) await text(agent, server.url, { path })
    const urls = agent
      .getRecorder()
      .getSnapshots()
      .map(({ request }) => request.url)
    assert.deepEqual(urls, [`${server.url}/2`, `${server.url}/3`])
  })

  test('security: secrets are redacted, and a request with another secret still finds its snapshot', async (t) => {
    const server = await countingServer(t)
    const path = fileFor(t)
    const recording = snapshots(t, { snapshotPath: path })
    const secrets = {
      authorization: 'Bearer hidden',
      cookie: 'hidden',
      'X-Api-Key': 'hidden',
      'my-secret': 'hidden',
    }
    await text(recording, server.url, { headers: secrets })
    await recording.close()
    const file = readFileSync(path, 'utf8')
    assert.doesNotMatch(file, /hidden|a=1/)
    assert.match(file, /"authorization": "<redacted>"/)
    assert.match(file, /"set-cookie": "<redacted>"/)
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
    assert.equal(
      await text(agent, server.url, { headers: { ...secrets, authorization: 'other' } }),
      'GET /  1',
    )
  })

  test('sanitize changes what is stored', async (t) => {
    const server = await countingServer(t)
    const agent = snapshots(t, {
      sanitize: (entry) => {
        entry.response.body = Buffer.from('clean').toString('base64')
      },
    })
    await text(agent, server.url)
    const [{ responses }] = agent.getRecorder().getSnapshots() as [SnapshotData['snapshot']]
    assert.equal(Buffer.from(responses[0]!.body, 'base64').toString(), 'clean')
  })
})

describe('files', () => {
  test('files of undici are replayed, and ours have its layout and names', async (t) => {
    const path = fileFor(t)
    writeFileSync(path, JSON.stringify(FROM_UNDICI))
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
    const origin = 'http://127.0.0.1:45871'
    const headers = { 'X-B': '1', accept: ['x', 'y'] }
    assert.equal(await text(agent, origin, { path: '/a?b=2&a=1', headers }), 'hi /a?b=2&a=1  1')
    assert.equal(await text(agent, origin, { path: '/a?b=2&a=1', headers }), 'hi /a?b=2&a=1  2')
    assert.equal(await (await fetch(`${origin}/g`, { dispatcher: agent })).text(), 'hi /g  6')
    assert.equal(await text(agent, origin, { path: '/g' }), 'hi /g  6')
    const post = { path: '/p', method: 'POST', body: 'body' }
    const fields = ['Content-Type', 'text/x', 'Authorization', 'Bearer s']
    assert.equal(await text(agent, origin, { ...post, headers: fields }), 'hi /p body 3')

    const copy = `${path}.copy`
    await agent.saveSnapshots(copy)
    const byHash = (a: SnapshotData, b: SnapshotData): number => (a.hash < b.hash ? -1 : 1)
    assert.deepEqual(stored(copy).sort(byHash), [...FROM_UNDICI].sort(byHash))
    assert.match(readFileSync(copy, 'utf8'), /^\[\n {2}\{\n {4}"hash": "/)
  })

  test('files as archives replay bodies in any coding', async (t) => {
    const plain = 'a text '.repeat(50)
    const gzip = gzipSync(plain)
    const rows: [coding: string, body: Buffer][] = [
      ['gzip', gzip],
      ['GZIP', gzip],
      ['identity', Buffer.from(plain)],
      ['gzip', Buffer.concat([gzip, gzip])],
      ['gzip', gzip.subarray(0, -9)],
      ['deflate', deflateRawSync(plain)],
      ['gzip, br', brotliCompressSync(gzip)],
      ['zstd', Buffer.from('28b52ffd201e750000406120746578742c200100530a17', 'hex')],
      ['unknown', Buffer.from([1, 2, 3, 200])],
    ]
    const origin = await startOrigin(t, WIRES[0]!, (request, response) => {
      const [coding, body] = rows[Number(request.url!.slice(1))]!
      response.writeHead(200, { 'content-encoding': coding }).end(body)
    })
    const path = fileFor(t, 'codings.har')
    const read = async (dispatcher: SnapshotAgent, index: number): Promise<unknown> => {
      const response = await fetch(`${origin.url}/${index}`, { dispatcher })
      // A runtime without zstd delivers the bytes as they are.
      return Buffer.from(await response.arrayBuffer()).toString('latin1')
    }
    const recording = snapshots(t, { snapshotPath: path })
    const recorded: unknown[] = []
    for (const index of rows.keys()) recorded.push(await read(recording, index))
    await recording.close()
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
    for (const [index, [coding]] of rows.entries()) {
      assert.equal(await read(agent, index), recorded[index], coding)
    }
  })

  test('snapshots of our fetch are found by that of undici', async (t) => {
    const path = fileFor(t)
    const inner = new MockAgent()
    t.after(() => inner.destroy())
    const origin = 'http://localhost:42163'
    inner
      .get(origin)
      .intercept({ path: () => true, method: () => true })
      .reply(200, 'ok')
      .persist()
    const agent = snapshots(t, { snapshotPath: path, agent: inner, secrets: 'keep' })
    const json = { 'content-type': 'application/json', accept: 'application/json' }
    // The names under which undici 8.12.4 stores them, and looks for them.
    const rows: [path: string, init: RequestInit, hash: string][] = [
      ['/g', {}, 'huDAFhIRxUhB-uQty0X4GhNXKBogotSYBWDugqF2u6c'],
      ['/h', { method: 'HEAD' }, 'abZh3ock3Ot39lPBLpvrT4LRUZQsAy0jrcyT4iYoeMk'],
      ['/a', { headers: { authorization: 'Bearer x' } }, 'kIY6bkVJb8HxhSj6mjd0iTao0FE6to3C8MMuwshblCY'],
      ['/p', { method: 'POST', body: 'text' }, 'mBu3Noce1-GxcuF2LIpLorEled8_PamlpykMWEnNfWE'],
      ['/j', { method: 'POST', body: '{}', headers: json }, 'KKPvMHt9tGbf4AEyJyNRX2H7U2RvVYTJBn7HXd3w7S0'],
      [
        '/q?x=1',
        { method: 'PUT', body: new URLSearchParams({ a: 'b c' }) },
        'YKBDxfScydiDCtfS956zEdV09tFFutL3GOj_hfQ48Hs',
      ],
    ]
    for (const [place, init] of rows)
      await (await fetch(origin + place, { ...init, dispatcher: agent })).text()
    await agent.saveSnapshots()
    const hashes = Object.fromEntries(
      stored(path).map(({ hash, snapshot }) => [snapshot.request.url.slice(origin.length), hash]),
    )
    assert.deepEqual(hashes, Object.fromEntries(rows.map(([place, , hash]) => [place, hash])))
    const first = stored(path).find(({ snapshot }) => snapshot.request.url.endsWith('/g'))!
    assert.equal(first.snapshot.request.headers['user-agent'], 'ventuno')
  })

  /** Bodies that are not text, the text that undici 8.12.4 stores of them, and the name it finds them by. */
  const abc = new Uint8Array([97, 98, 99])
  const bodies: [path: string, make: () => unknown, stored: string, hash: string][] = [
    ['/buffer', () => Buffer.from('äö text'), 'äö text', 'yVgP_aS5BBUbSbDVBjaOhDpfPKVbVXkOYJtMqv46pDE'],
    [
      '/binary',
      () => Buffer.from([0xff, 0xfe, 0, 1, 2]),
      '\ufffd\ufffd\0\u0001\u0002',
      '6m9rLweg5kBcGklvqwx9yCYUP7hEAfqjpHJ6CS1uJ34',
    ],
    ['/u8', () => abc, '97,98,99', 'E0H8wstOFvKpJqxakM93UJAiGXY7pZ1PIALNR_8x4hk'],
    ['/u16', () => new Uint16Array([97, 98]), '97,98', 'elV-CXOAJMSAHrGUFojfEAJznnnmZtI6EUIIwDqE_Es'],
    [
      '/arraybuffer',
      () => abc.slice().buffer,
      '[object ArrayBuffer]',
      '7cEgcUjr1SEhiAacowu2DqGNhOq7OilKdq-bPnbsAkI',
    ],
    [
      '/blob',
      () => new Blob(['abc'], { type: 'text/x' }),
      '[object Blob]',
      '5NAVsiLoO1oRlhIOs_4UK5LGVADM-MC4TpBLSTwP0QE',
    ],
    ['/form', () => formOf('b'), '[object FormData]', 'W18n5IBsQlNC-_QIJG-0Y38Dvd8PxBcVUKwl42P3X4Y'],
    [
      '/stream',
      () => Readable.from(['a', 'b']),
      '[object Object]',
      'CYW9iszTq1Ut1cef9r83A66aVpe6o7y7521-aAOAO2c',
    ],
    [
      '/rstream',
      () => new Blob(['abc']).stream(),
      '[object ReadableStream]',
      'ol-dAgz7NGm_ziW6EQhTmsMhA9bW8Z_1b7f7JRn1wSI',
    ],
    ['/gen', generate, '[object AsyncGenerator]', 'T5gUf_XYYdrfn_Bd9HpDzN3pMJlc9B-gqJJxJHPo5LU'],
  ]
  const fetched: typeof bodies = [
    [
      '/buffer',
      () => Buffer.from('äö text'),
      '195,164,195,182,32,116,101,120,116',
      'Y9J7sVtAxFSo5K_i779-GNMmDsuX3y3nNTUqB-hPwgQ',
    ],
    ['/u16', () => new Uint16Array([97, 98]), '97,0,98,0', 'pvFczs1TpUoWEtMzSREvV8RSwo4NBP6aaFNDyd9VQ8o'],
    ['/arraybuffer', () => abc.slice().buffer, '97,98,99', '1Gr2ntlC7SHbe9BJKOZdN4FAvC1d4qT0PkIGbbbc55s'],
    [
      '/blob',
      () => new Blob(['abc'], { type: 'text/x' }),
      '[object Blob]',
      'oFXbqEywtaA8X6rHHgktKmscRUxAy7OaifOFAT5kPtM',
    ],
    [
      '/stream',
      () => Readable.from([Buffer.from('a')]),
      '[object ReadableStream]',
      'wqAcv19eKJJ5AhuiKNgnUzcsYSDg57nf-p6ISZ0S9-E',
    ],
    [
      '/rstream',
      () => new Blob(['abc']).stream(),
      '[object ReadableStream]',
      'pBlS4mnUGa3GAvHEfO13n5iygm2ePtNOKfra_Elu_lY',
    ],
    ['/gen', generate, '[object ReadableStream]', 'H7GKdD8ic_NQLozWqFYkRcUREwnWI4AOJXv_lKDBJf8'],
  ]

  function formOf(value: string, file?: string): FormData {
    const form = new FormData()
    form.append('a', value)
    if (file !== undefined) form.append('f', new Blob([file]), 'x.txt')
    return form
  }

  async function* generate(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a')
  }

  for (const [caller, rows] of [
    ['request', bodies],
    ['fetch', fetched],
  ] as const) {
    const origin = 'http://127.0.0.1:18098'
    const send = async (dispatcher: SnapshotAgent, path: string, body: unknown): Promise<string> => {
      if (caller === 'request') return text(dispatcher, origin, { path, method: 'POST', body })
      const init = { method: 'POST', body, dispatcher, duplex: 'half' } as RequestInit
      return (await fetch(origin + path, init)).text()
    }

    test(`snapshot files with bodies of any kind go both ways, ${caller}`, async (t) => {
      const path = fileFor(t)
      const inner = new MockAgent()
      t.after(() => inner.destroy())
      inner.get(origin).intercept({ path: /./, method: 'POST' }).reply(200, 'ours').persist()
      const recording = snapshots(t, { snapshotPath: path, agent: inner })
      for (const [place, make] of rows) await send(recording, place, make())
      await recording.close()
      const names = new Map(stored(path).map(({ hash, snapshot }) => [snapshot.request.url, hash]))
      for (const [place, , , hash] of rows) assert.equal(names.get(origin + place), hash, place)

      const replaying = snapshots(t, { mode: 'playback', snapshotPath: path })
      for (const [place, make] of rows) assert.equal(await send(replaying, place, make()), 'ours', place)
      await replaying.saveSnapshots(`${path}.copy`)
      assert.equal(readFileSync(`${path}.copy`, 'utf8'), readFileSync(path, 'utf8'))

      const responses = [{ statusCode: 200, headers: {}, body: '', trailers: {} }]
      const theirs = rows.map(([place, , body]) => ({
        snapshot: {
          request: {
            method: 'POST',
            url: origin + place,
            headers: caller === 'fetch' && place === '/blob' ? { 'content-type': 'text/x' } : {},
            body,
          },
          responses,
        },
      }))
      writeFileSync(path, JSON.stringify(theirs))
      const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
      for (const [place, make] of rows) assert.equal(await send(agent, place, make()), '', place)
    })

    test(`forms are found again, and differ by their content, ${caller}`, async (t) => {
      const path = fileFor(t)
      const inner = new MockAgent()
      t.after(() => inner.destroy())
      inner.get(origin).intercept({ path: '/', method: 'POST' }).reply(200, 'ours').persist()
      const recording = snapshots(t, { snapshotPath: path, agent: inner })
      await send(recording, '/', formOf('b', 'content'))
      await recording.close()
      const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
      assert.equal(await send(agent, '/', formOf('b', 'content')), 'ours')
      for (const other of [formOf('c', 'content'), formOf('b'), formOf('b', 'content!')]) {
        const error = await failure(send(agent, '/', other))
        assert.match(String(error.cause ?? error), /No snapshot found/)
      }
    })
  }

  test('snapshot files may be objects of snapshots by hash', async (t) => {
    const path = fileFor(t)
    writeFileSync(
      path,
      JSON.stringify(Object.fromEntries(FROM_UNDICI.map(({ hash, snapshot }) => [hash, snapshot]))),
    )
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
    assert.equal(await text(agent, 'http://127.0.0.1:45871', { path: '/g' }), 'hi /g  6')
  })

  test('snapshot files that are broken fail the request, with the reason', async (t) => {
    const snapshot = (responses: string): string =>
      `[{"snapshot":{"request":{"method":"GET","url":"http://a.test/"},"responses":${responses}}}]`
    for (const content of [
      '{bad',
      '5',
      'null',
      '[null]',
      '[{}]',
      '[{"snapshot":{}}]',
      snapshot('[]'),
      snapshot('[null]'),
      snapshot('[{"body":""}]'),
      snapshot('[{"statusCode":200,"body":5}]'),
    ]) {
      const path = fileFor(t)
      writeFileSync(path, content)
      const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
      for (const error of [
        await failure(text(agent, 'http://a.test')),
        await failure(agent.loadSnapshots()),
      ]) {
        assert.ok(error instanceof errors.UndiciError)
        assert.equal(error.message, `Failed to load snapshots from ${path}`)
        assert.ok(error.cause instanceof Error)
      }
    }
  })

  test('snapshot files that do not exist are empty; folders are made; nothing else is left', async (t) => {
    const server = await countingServer(t)
    const path = join(fileFor(t), '..', 'deep', 'er.json')
    const agent = snapshots(t, { mode: 'update', snapshotPath: path })
    for (const place of ['/b', '/a']) await text(agent, server.url, { path: place })
    await agent.close()
    assert.deepEqual(readdirSync(join(path, '..')), ['er.json'])
    const urls = stored(path).map(({ snapshot }) => snapshot.request.url)
    assert.deepEqual(urls, [`${server.url}/a`, `${server.url}/b`])
  })

  test('playback never writes, and close reports a file that cannot be written', async (t) => {
    const path = fileFor(t)
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
    await agent.close()
    assert.equal(existsSync(path), false)
    writeFileSync(path, '[]')
    const blocked = snapshots(t, { snapshotPath: join(path, 'inside.json') })
    blocked.clearSnapshots()
    assert.match(String((await failure(blocked.close())).code), /^E(?:NOTDIR|EXIST)$/)
  })

  test('snapshot files are not written if nothing was recorded', async (t) => {
    for (const mode of ['record', 'update'] as const) {
      const path = fileFor(t)
      await snapshots(t, { mode, snapshotPath: path }).close()
      assert.equal(existsSync(path), false)
    }
  })

  test('snapshot files that cannot be written leave no draft, and close tries again', async (t) => {
    const server = await countingServer(t)
    const path = fileFor(t)
    const agent = snapshots(t, { mode: 'update', snapshotPath: path })
    await text(agent, server.url)
    // A folder of this name cannot be replaced.
    mkdirSync(join(path, 'inside'), { recursive: true })
    await failure(agent.saveSnapshots())
    assert.deepEqual(readdirSync(join(path, '..')), ['snapshots.json'])
    rmSync(path, { recursive: true })
    await agent.close()
    assert.equal(stored(path).length, 1)
  })

  test('snapshot files are written one after another', async (t) => {
    const server = await countingServer(t)
    const path = fileFor(t)
    const agent = snapshots(t, { snapshotPath: path })
    await text(agent, server.url)
    const first = agent.saveSnapshots()
    await text(agent, server.url, { path: '/other' })
    await Promise.all([first, agent.saveSnapshots(), agent.saveSnapshots(), agent.close()])
    assert.equal(stored(path).length, 2)
  })

  test('snapshot files with very many responses to one request are read', async (t) => {
    const path = fileFor(t)
    const response = { statusCode: 200, body: '' }
    const request = { method: 'GET', url: 'http://a.test/', body: '' }
    const many = { snapshot: { request, responses: Array.from({ length: 200_000 }, () => response) } }
    writeFileSync(path, JSON.stringify([{ snapshot: { request, responses: [response] } }, many]))
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
    assert.equal(await text(agent, 'http://a.test'), '')
    assert.equal(
      agent.getSnapshotInfo({ origin: 'http://a.test', path: '/', method: 'GET' })!.responseCount,
      200_001,
    )
  })

  test('a callback of a snapshot agent that throws fails the request', async (t) => {
    const server = await countingServer(t)
    const error = new Error('mine')
    const path = fileFor(t)
    writeFileSync(path, '[]')
    const broken = (): never => {
      throw error
    }
    for (const options of [
      { shouldRecord: broken },
      { sanitize: broken },
      { normalizeBody: broken },
      { normalizeQuery: broken },
      { mode: 'playback', snapshotPath: path, shouldPlayback: broken },
    ] as const) {
      const agent = snapshots(t, options)
      assert.equal(
        await failure(text(agent, server.url, { path: '/?a=1', method: 'POST', body: 'x' })),
        error,
      )
    }
  })

  test('autoFlush writes after the interval, once for all changes, with a timer that is not referenced', async (t) => {
    const server = await countingServer(t)
    const path = fileFor(t)
    const agent = snapshots(t, { snapshotPath: path, autoFlush: true, flushInterval: 5000 })
    const clock = new FakeClock()
    const restore = clock.enable()
    try {
      await text(agent, server.url)
      await text(agent, server.url, { path: '/other' })
      const timers = [...clock.active].filter(({ delay }) => delay === 5000)
      assert.deepEqual(
        timers.map(({ referenced }) => referenced),
        [false],
      )
      clock.jump(5000)
    } finally {
      restore()
    }
    while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 1))
    assert.equal(stored(path).length, 2)
  })

  test('unusedSnapshots finds what is stale, and prune removes it', async (t) => {
    const server = await countingServer(t)
    const path = fileFor(t)
    const recording = snapshots(t, { snapshotPath: path })
    for (const place of ['/used', '/stale']) await text(recording, server.url, { path: place })
    await recording.close()
    const agent = snapshots(t, { mode: 'update', snapshotPath: path, prune: true })
    await text(agent, server.url, { path: '/used' })
    assert.deepEqual(
      agent.unusedSnapshots().map(({ request }) => request.url),
      [`${server.url}/stale`],
    )
    await agent.close()
    assert.deepEqual(
      stored(path).map(({ snapshot }) => snapshot.request.url),
      [`${server.url}/used`],
    )
  })

  test('snapshots can be deleted, cleared and replaced', (t) => {
    const agent = snapshots(t, {})
    agent.replaceSnapshots(FROM_UNDICI)
    const get = { origin: 'http://127.0.0.1:45871', path: '/g', method: 'GET' }
    assert.equal(agent.deleteSnapshot(get), true)
    assert.equal(agent.deleteSnapshot(get), false)
    assert.equal(agent.getSnapshotInfo(get), null)
    assert.equal(agent.getRecorder().size(), FROM_UNDICI.length - 1)
    agent.clearSnapshots()
    assert.equal(agent.getRecorder().size(), 0)
  })
})

describe('HTTP archives', () => {
  test('HTTP archives are written and replayed', async (t) => {
    const origin = await startOrigin(t, WIRES[0]!, (request, response) => {
      request.resume()
      response.setHeader('content-encoding', 'gzip')
      response.setHeader('content-type', 'text/plain')
      import('node:zlib').then(({ gzipSync }) => response.end(gzipSync('unpacked')))
    })
    const path = fileFor(t, 'archive.har')
    const recording = snapshots(t, { snapshotPath: path })
    await text(recording, origin.url, { path: '/x?a=1', method: 'POST', body: 'sent', headers: { a: '1' } })
    await recording.close()
    const { log } = JSON.parse(readFileSync(path, 'utf8')) as {
      log: { version: string; entries: HarEntry[] }
    }
    assert.equal(log.version, '1.2')
    const [entry] = log.entries as [HarEntry]
    assert.deepEqual(Object.keys(entry), [
      'startedDateTime',
      'time',
      'request',
      'response',
      'cache',
      'timings',
    ])
    assert.deepEqual(
      [entry.request.queryString, entry.request.postData.text],
      [[{ name: 'a', value: '1' }], 'sent'],
    )
    assert.equal(entry.response.content.text, 'unpacked')
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
    assert.equal(await text(agent, origin.url, { path: '/x?a=1', method: 'POST', body: 'sent' }), 'unpacked')
  })

  test('HTTP archives of browsers are replayed, whatever headers they have', async (t) => {
    const path = fileFor(t, 'browser.HAR')
    const field = (name: string, value: string): object => ({ name, value })
    const entry = (status: number, text: string, encoding?: string): object => ({
      startedDateTime: '2026-01-01T00:00:00.000Z',
      time: 25,
      request: {
        method: 'GET',
        url: 'https://site.test/page#part',
        headers: [
          field(':authority', 'site.test'),
          field('User-Agent', 'Mozilla/5.0'),
          field('Accept', 'text/html'),
        ],
      },
      response: {
        status,
        headers: [
          field('Content-Encoding', 'br'),
          field('Content-Length', '3'),
          field('Set-Cookie', 'a=1'),
          field('Set-Cookie', 'b=2'),
        ],
        content: { text, ...(encoding && { encoding }) },
      },
    })
    writeFileSync(
      path,
      JSON.stringify({
        log: { entries: [entry(0, ''), entry(200, 'first'), entry(200, 'c2Vjb25k', 'base64')] },
      }),
    )
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path, replayTimings: true })
    const begin = performance.now()
    const first = await fetch('https://site.test/page', { dispatcher: agent })
    assert.deepEqual([await first.text(), first.headers.getSetCookie()], ['first', ['a=1', 'b=2']])
    assert.ok(performance.now() - begin >= 20)
    assert.equal(await text(agent, 'https://site.test', { path: '/page' }), 'second')
  })

  test('HTTP archives with any body of a request, and with repeated fields in one', async (t) => {
    const path = fileFor(t)
    const bodies: [postData: object | undefined, body: string | Buffer | undefined][] = [
      [undefined, undefined],
      [{ mimeType: 'text/plain', text: 'text' }, 'text'],
      [{ mimeType: 'text/plain', text: 'dGV4dA==', encoding: 'base64' }, 'text'],
      [{ mimeType: 'x/y', text: '/wA=', encoding: 'base64' }, Buffer.from([0xff, 0])],
      [
        {
          mimeType: 'application/x-www-form-urlencoded; charset=utf-8',
          params: [{ name: 'a b', value: 'c' }, { name: 'd' }],
        },
        'a+b=c&d=',
      ],
      [{ mimeType: 'multipart/form-data', params: [] }, undefined],
    ]
    const headers = [{ name: 'Set-Cookie', value: 'a=1\nb=2' }]
    const entries = bodies.map(([postData], i) => ({
      request: { method: 'POST', url: `http://a.test/${i}`, postData },
      response: { status: 200, headers, content: { size: 0 } },
    }))
    writeFileSync(path, JSON.stringify({ log: { entries } }))
    const agent = snapshots(t, { mode: 'playback', snapshotPath: path, format: 'har' })
    for (const [i, [, body]] of bodies.entries()) {
      const response = await agent.request({ origin: 'http://a.test', path: `/${i}`, method: 'POST', body })
      assert.deepEqual(response.headers['set-cookie'], ['a=1', 'b=2'])
      assert.equal(await response.body.text(), '')
    }
  })

  test('HTTP archives that are broken are refused', async (t) => {
    const path = fileFor(t, 'broken.har')
    const entry = (url: string, headers: string): string =>
      `{"log":{"entries":[{"request":{"method":"GET","url":"${url}","headers":${headers}},"response":{"status":200}}]}}`
    for (const content of [
      '',
      'null',
      '[]',
      '{"log":{}}',
      '{"log":{"entries":[null]}}',
      '{"log":{"entries":[{}]}}',
      entry('/relative', '[]'),
      entry('http://a.test/', '5'),
      entry('http://a.test/', '[null]'),
    ]) {
      writeFileSync(path, content)
      const agent = snapshots(t, { mode: 'playback', snapshotPath: path })
      assert.equal(
        (await failure(text(agent, 'http://a.test'))).message,
        `Failed to load snapshots from ${path}`,
        content,
      )
    }
  })
})

interface HarEntry {
  readonly request: { readonly queryString: unknown; readonly postData: { readonly text: string } }
  readonly response: { readonly content: { readonly text: string } }
}
