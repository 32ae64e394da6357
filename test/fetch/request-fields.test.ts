/** The fields that fetch adds to those of the caller, on our dispatchers. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import {
  FormData,
  fetch,
  Request,
  type RequestInitWithDispatcher,
  Response,
  setGlobalOrigin,
} from '../../src/index.ts'
import { deferred, type Echo, echo, failure } from '../support/exchange.ts'
import { overEachWire, startOrigin, type Wire } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

/** The names as received, and the values by lower-case name. */
async function sent(
  t: TestContext,
  wire: Wire,
  init: RequestInitWithDispatcher = {},
): Promise<{ names: string[]; values: Record<string, string> }> {
  const seen = deferred<string[]>()
  const origin = await startOrigin(t, wire, (request, response) => {
    request.resume()
    seen.resolve(request.rawHeaders)
    response.end()
  })
  await (await fetch(origin.url, { dispatcher: agentFor(t, wire), ...init })).text()
  const raw = (await seen.promise).map(String)
  const names = raw.filter((_, index) => index % 2 === 0)
  const values = names.map((name, index) => [name.toLowerCase(), raw[2 * index + 1]!])
  return { names, values: Object.fromEntries(values) }
}

/** Of the connection. */
const VARYING = ['host', 'connection']

overEachWire('the fields of a fetch', (wire) => {
  test("the caller's first, then the defaults in order", async (t) => {
    const { names, values } = await sent(t, wire, {
      method: 'POST',
      body: 'x',
      headers: { 'x-first': '1', 'x-second': '2' },
    })
    const own = names.filter((name) => !name.startsWith(':') && !VARYING.includes(name.toLowerCase()))
    assert.deepEqual(own, [
      'x-first',
      'x-second',
      'content-type',
      'accept',
      'accept-language',
      'sec-fetch-mode',
      'user-agent',
      'accept-encoding',
      'content-length',
    ])
    assert.equal(values['content-type'], 'text/plain;charset=UTF-8')
    assert.equal(values['accept'], '*/*')
    assert.equal(values['accept-language'], '*')
    assert.equal(values['user-agent'], 'ventuno')
    assert.equal(values['sec-fetch-mode'], 'cors')
    assert.match(values['accept-encoding']!, wire.secure ? /^br, gzip, deflate(, zstd)?$/ : /^gzip, deflate$/)
    assert.equal(values['content-length'], '1')
    assert.equal(values['transfer-encoding'], undefined)
    assert.equal(values['origin'], undefined)
  })

  test('with all that the options add', async (t) => {
    t.after(() => setGlobalOrigin(undefined))
    setGlobalOrigin('http://client.test/page')
    const { names, values } = await sent(t, wire, {
      method: 'POST',
      body: new URLSearchParams('a=b'),
      cache: 'no-store',
      mode: 'same-origin',
      referrer: '/other',
      referrerPolicy: 'unsafe-url',
      headers: { 'x-own': '1' },
    } as RequestInitWithDispatcher)
    const own = names.filter((name) => !name.startsWith(':') && !VARYING.includes(name.toLowerCase()))
    assert.deepEqual(own, [
      'x-own',
      'content-type',
      'accept',
      'accept-language',
      'referer',
      'origin',
      'sec-fetch-mode',
      'user-agent',
      'pragma',
      'cache-control',
      'accept-encoding',
      'content-length',
    ])
    assert.deepEqual(
      [values['referer'], values['origin'], values['sec-fetch-mode']],
      ['http://client.test/other', 'http://client.test', 'same-origin'],
    )
    assert.deepEqual([values['pragma'], values['cache-control']], ['no-cache', 'no-cache'])
  })

  test("a caller's host and sec-fetch-mode are not sent", async (t) => {
    const { values } = await sent(t, wire, { headers: { Host: 'other.test', 'Sec-Fetch-Mode': 'navigate' } })
    assert.equal(values['sec-fetch-mode'], 'cors')
    assert.match(values[wire.multiplexes ? ':authority' : 'host']!, /^localhost:/)
    assert.equal(wire.multiplexes ? values['host'] : undefined, undefined)
  })

  test('referer and origin that the caller sets are left alone', async (t) => {
    t.after(() => setGlobalOrigin(undefined))
    setGlobalOrigin('http://client.test/page')
    const headers = { referer: 'http://mine.test/', origin: 'http://mine.test' }
    const { values } = await sent(t, wire, { method: 'POST', headers })
    assert.deepEqual([values['referer'], values['origin']], ['http://mine.test/', 'http://mine.test'])
  })

  test('about:client is the global origin at the time of the fetch', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const dispatcher = agentFor(t, wire)
    const init: RequestInitWithDispatcher = { referrer: 'about:client', referrerPolicy: 'origin', dispatcher }
    const request = new Request(origin.url, init)
    t.after(() => setGlobalOrigin(undefined))
    setGlobalOrigin('http://client.test/page')
    const { headers } = (await (await fetch(request)).json()) as Echo
    assert.equal(headers['referer'], 'http://client.test/')
  })

  test('a referrer without a global origin', async (t) => {
    const { values } = await sent(t, wire, {
      referrer: 'https://page.test/x#y',
      referrerPolicy: 'unsafe-url',
    })
    assert.deepEqual([values['referer'], values['origin']], ['https://page.test/x', undefined])
  })

  test('the origin of a POST, by policy', async (t) => {
    t.after(() => setGlobalOrigin(undefined))
    const origin = 'https://client.test'
    setGlobalOrigin(`${origin}/page`)
    const unlessDowngraded = wire.secure ? origin : 'null'
    const rows = {
      'no-referrer': 'null',
      'same-origin': 'null',
      'no-referrer-when-downgrade': unlessDowngraded,
      'strict-origin': unlessDowngraded,
      'strict-origin-when-cross-origin': unlessDowngraded,
      '': unlessDowngraded,
      origin: origin,
      'origin-when-cross-origin': origin,
      'unsafe-url': origin,
    } as const
    for (const [referrerPolicy, expected] of Object.entries(rows)) {
      const init = { method: 'POST', referrerPolicy } as RequestInitWithDispatcher
      assert.equal((await sent(t, wire, init)).values['origin'], expected, referrerPolicy)
    }
  })

  test('a name that objects have a meaning for', async (t) => {
    const { names } = await sent(t, wire, { headers: [['__proto__', 'x']] })
    assert.ok(names.includes('__proto__'), names.join())
  })

  test('the length of a body where it is known, chunks where it is not', async (t) => {
    const form = new FormData()
    form.append('a', new File(['content'], 'name'))
    const encoded = (await new Response(form).bytes()).length
    const closing = (await new Response(new FormData()).bytes()).length
    const stream = new Blob(['x']).stream()
    const rows: [body: unknown, length: number | null, type: string | undefined][] = [
      ['grün', 5, 'text/plain;charset=UTF-8'],
      [new Uint8Array(3), 3, undefined],
      [new Uint8Array(4).buffer, 4, undefined],
      [new URLSearchParams('a=b c'), 5, 'application/x-www-form-urlencoded;charset=UTF-8'],
      [new Blob(['abc'], { type: 'x/y' }), 3, 'x/y'],
      [new Blob([]), 0, undefined],
      [form, encoded, 'multipart/form-data; boundary=…'],
      [new FormData(), closing, 'multipart/form-data; boundary=…'],
      [stream, null, undefined],
    ]
    for (const [body, length, type] of rows) {
      const init = { method: 'POST', body, duplex: 'half' } as RequestInitWithDispatcher
      const { values } = await sent(t, wire, init)
      assert.equal(values['content-length'], length === null ? undefined : String(length))
      const chunked = length === null && !wire.multiplexes
      assert.equal(values['transfer-encoding'], chunked ? 'chunked' : undefined)
      assert.equal(values['content-type']?.replace(/boundary=.*/, 'boundary=…'), type)
    }
  })

  test("the caller's own stand in for the defaults", async (t) => {
    const headers = { accept: 'a/b', 'accept-language': 'de', 'user-agent': 'me', 'accept-encoding': 'br' }
    const { values } = await sent(t, wire, { headers })
    for (const [name, value] of Object.entries(headers)) assert.equal(values[name], value)
  })

  test('a range is asked for without compression; a cache is not asked at all', async (t) => {
    const { values } = await sent(t, wire, { headers: { range: 'bytes=0-1' } })
    assert.equal(values['accept-encoding'], 'identity')
    for (const cache of ['no-store', 'reload'] as const) {
      // Not in the types of Node 20.
      const fresh = (await sent(t, wire, { cache } as RequestInitWithDispatcher)).values
      assert.deepEqual([fresh['pragma'], fresh['cache-control']], ['no-cache', 'no-cache'])
    }
    assert.equal((await sent(t, wire)).values['pragma'], undefined)
  })

  test('no body: a length of 0 where one is expected, none elsewhere', async (t) => {
    for (const method of ['POST', 'PUT', 'PATCH']) {
      assert.equal((await sent(t, wire, { method })).values['content-length'], '0')
    }
    for (const method of ['GET', 'DELETE']) {
      assert.equal((await sent(t, wire, { method })).values['content-length'], undefined)
    }
  })

  test('no body: a length that the caller gives is dropped', async (t) => {
    for (const name of ['content-length', 'Content-Length']) {
      const headers = { [name]: '5', 'x-own': '1' }
      for (const method of ['GET', 'HEAD', 'DELETE', 'POST', 'PUT']) {
        const { values } = await sent(t, wire, { method, headers })
        const expected = method === 'POST' || method === 'PUT' ? '0' : undefined
        assert.deepEqual([values['content-length'], values['x-own']], [expected, '1'], method)
      }
    }
  })

  test('a form without fields is its closing delimiter', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const init = { dispatcher: agentFor(t, wire), method: 'POST', body: new FormData() }
    const got = (await (await fetch(origin.url, init)).json()) as Echo
    const [, boundary] = /boundary=(.+)$/.exec(String(got.headers['content-type']))!
    assert.equal(got.body, `--${boundary}--\r\n`)
    assert.equal(got.headers['content-length'], String(got.body.length))
    const empty = new Response(new FormData())
    assert.deepEqual([...(await empty.formData())], [])
  })
})

const H1: Wire = { name: 'h1', secure: false, multiplexes: false }

describe('the request of a fetch', () => {
  test('names keep the letters the caller gave them', async (t) => {
    const { names } = await sent(t, H1, { headers: { 'X-Own-Name': '1' } })
    assert.ok(names.includes('X-Own-Name'), names.join())
  })

  test('the fragment is not sent, a query is', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const dispatcher = agentFor(t, H1)
    for (const [url, path] of [
      ['/a?b=c#d', '/a?b=c'],
      ['/#', '/'],
      ['', '/'],
    ]) {
      const response = await fetch(origin.url + url, { dispatcher })
      assert.equal(((await response.json()) as Echo).url, path)
    }
  })

  test('a stream needs duplex: half', async (t) => {
    const dispatcher = agentFor(t, H1)
    const init = { dispatcher, method: 'POST', body: new ReadableStream() }
    assert.equal((await failure(fetch('http://localhost:9/', init))).name, 'TypeError')
  })

  test('an async iterable is a body as well', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const body = (async function* () {
      yield new TextEncoder().encode('one ')
      yield new TextEncoder().encode('two')
    })()
    const init = { method: 'POST', body: body as never, duplex: 'half' } as RequestInitWithDispatcher
    const response = await fetch(origin.url, { dispatcher: agentFor(t, H1), ...init })
    assert.equal(((await response.json()) as Echo).body, 'one two')
  })
})

overEachWire('a stream that fetch sends', (wire) => {
  test('is pulled as the server takes it', async (t) => {
    const total = 256
    let pulled = 0
    let atFirstRead = -1
    const origin = await startOrigin(t, wire, (request, response) => {
      // Nothing is read before the client has sent all it can.
      let last = -1
      const look = (): void => {
        if (pulled !== last) {
          last = pulled
          setImmediate(() => setImmediate(() => setImmediate(look)))
          return
        }
        atFirstRead = pulled
        request.resume().on('end', () => response.end())
      }
      look()
    })
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (pulled++ === total) controller.close()
          else controller.enqueue(new Uint8Array(128 * 1024))
        },
      },
      { highWaterMark: 0 },
    )
    const init = { method: 'POST', body, duplex: 'half' } as RequestInitWithDispatcher
    await (await fetch(origin.url, { dispatcher: agentFor(t, wire), ...init })).text()
    assert.equal(pulled, total + 1)
    assert.ok(atFirstRead < total, `${atFirstRead} of ${total} chunks were taken ahead`)
  })
})

describe('fields that come again', () => {
  /** The fields of one fetch, as a dispatcher gets them; it changes what it got. */
  async function given(init: RequestInitWithDispatcher, url = 'http://a.localhost'): Promise<object> {
    let seen = {}
    const dispatcher = {
      dispatch(opts: { headers: Record<string, string> }): boolean {
        seen = { ...opts.headers }
        opts.headers['x-added'] = 'by an interceptor'
        opts.headers['x-id'] = 'changed'
        throw new Error('seen')
      },
    }
    await failure(fetch(url, { dispatcher: dispatcher as never, ...init }))
    return seen
  }

  const OWN = { 'accept-language': '*', 'user-agent': 'ventuno', 'accept-encoding': 'gzip, deflate' }

  test('are the same each time, whatever becomes of those before', async () => {
    for (const id of ['1', '1', '1', '2', '2', '1']) {
      assert.deepEqual(await given({ headers: { 'x-id': id, accept: 'a/b' } }), {
        'x-id': id,
        accept: 'a/b',
        'sec-fetch-mode': 'cors',
        ...OWN,
      })
    }
  })

  test('differ with the mode, the scheme, the cache mode and the body', async () => {
    const headers = { 'x-id': '1', accept: 'a/b' }
    const same = { 'x-id': '1', accept: 'a/b', 'sec-fetch-mode': 'cors', ...OWN }
    for (let round = 0; round < 2; round++) {
      for (let again = 0; again < 3; again++) assert.deepEqual(await given({ headers }), same)
      assert.deepEqual(await given({ headers, mode: 'same-origin' }), {
        ...same,
        'sec-fetch-mode': 'same-origin',
      })
      assert.match(JSON.stringify(await given({ headers }, 'https://a.test')), /"br, gzip, deflate/)
      assert.deepEqual(await given({ headers, cache: 'no-cache' }), { ...same, 'cache-control': 'max-age=0' })
      assert.deepEqual(await given({ headers, method: 'POST', body: 'x' }), {
        ...same,
        'content-type': 'text/plain;charset=UTF-8',
        'content-length': '1',
      })
    }
  })

  test('are remembered again after many that differ', async () => {
    for (let i = 0; i < 100; i++) {
      const { 'x-id': id } = (await given({ headers: { 'x-id': `${i}` } })) as Record<string, string>
      assert.equal(id, `${i}`)
    }
    for (let i = 0; i < 100; i++) {
      const { 'x-id': id } = (await given({ headers: { 'x-id': 'same' } })) as Record<string, string>
      assert.equal(id, 'same')
    }
  })

  test('of a Request that changes are not those of others', async () => {
    const headers = { 'x-id': '1' }
    const first = new Request('http://a.test', { headers })
    const second = new Request('http://a.test', { headers })
    const copy = first.clone()
    first.headers.set('x-id', '2')
    assert.deepEqual(
      [first, second, copy].map((request) => request.headers.get('x-id')),
      ['2', '1', '1'],
    )
    assert.equal(new Request('http://a.test', { headers }).headers.get('x-id'), '1')
  })
})
