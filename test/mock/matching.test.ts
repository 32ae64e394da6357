/** Which interceptor a request gets: the order, and every kind of matcher for every part. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { fetch } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { mocking, ORIGIN } from './mocking.ts'

const unmatched = (part: string): RegExp => new RegExp(`^Mock dispatch not matched for ${part} `)

describe('the order', () => {
  test('the first interceptor registered replies, then the second, then none', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'first')
    pool.intercept({ path: /./ }).reply(200, 'second')
    assert.equal((await send('/')).text, 'first')
    assert.equal((await send('/')).text, 'second')
    assert.match((await failure(send('/'))).message, /, 0 interceptor\(s\) remaining out of 2 defined/)
  })

  test('several replies of one interceptor are given one after another', async (t) => {
    const { pool, send } = mocking(t)
    const interceptor = pool.intercept({ path: '/' })
    interceptor.reply(200, 'one').times(2)
    interceptor.reply(200, 'two')
    const texts = [await send('/'), await send('/'), await send('/')].map(({ text }) => text)
    assert.deepEqual(texts, ['one', 'one', 'two'])
  })

  test('an interceptor used up while a body was collected: all parts of the next are compared', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/a', method: 'POST', body: 'x' }).reply(200, 'a')
    pool.intercept({ path: '/b', method: 'PUT' }).reply(200, 'b')
    const post = (): Promise<unknown> => send('/a', { method: 'POST', body: Readable.from(['x']) })
    const [first, second] = await Promise.allSettled([post(), post()])
    assert.equal(first.status, 'fulfilled')
    assert.equal(second.status, 'rejected')
    assert.equal((await send('/b', { method: 'PUT' })).text, 'b')
  })

  test('the params of an interceptor that does not match are not those of the next', async (t) => {
    const { agent, pool, send } = mocking(t)
    agent.intercept(`POST ${ORIGIN}/users/:id`).reply(200)
    pool.intercept({ path: '/users/1' }).reply(200, ({ params }) => params)
    assert.equal((await send('/users/1')).text, '{}')
  })

  test('the part that leaves no interceptor is named', async (t) => {
    const { pool, send } = mocking(t)
    pool
      .intercept({ path: '/p', method: 'POST', body: 'b', headers: { h: '1' } })
      .reply(200)
      .persist()
    pool.intercept({ path: '/q' }).reply(200).persist()
    const stages: [string, object, string][] = [
      ['/other', {}, "path '/other':"],
      ['/p', {}, "method 'GET' on path '/p':"],
      ['/p', { method: 'POST', body: 'x' }, "body 'x' on path '/p':"],
      ['/p', { method: 'POST', body: 'b', headers: { h: '2' } }, `headers '{"h":"2"}' on path '/p':`],
    ]
    for (const [path, options, expected] of stages) {
      const { message } = await failure(send(path, options))
      assert.ok(message.startsWith(`Mock dispatch not matched for ${expected} `), message)
    }
  })

  test('the arguments of intercept are checked', (t) => {
    const { pool } = mocking(t)
    for (const options of [null, undefined, 5, 'x']) {
      assert.throws(() => pool.intercept(options as never), {
        name: 'InvalidArgumentError',
        message: 'opts must be an object',
      })
    }
    for (const options of [{}, { path: undefined }, { path: null }]) {
      assert.throws(() => pool.intercept(options as never), {
        name: 'InvalidArgumentError',
        message: 'opts.path must be defined',
      })
    }
  })
})

describe('matchers', () => {
  const NEVER: unknown[] = [5, true, Symbol('x'), {}]

  test('matchers of a method', async (t) => {
    const { pool, send } = mocking(t)
    const cases: [unknown, string, boolean][] = [
      ['post', 'POST', true],
      ['POST', 'post', false],
      [/^P/, 'PUT', true],
      [/^P/, 'GET', false],
      [(method: string) => method === 'PATCH', 'PATCH', true],
      [() => 1, 'GET', false],
      ...NEVER.map((matcher): [unknown, string, boolean] => [matcher, 'GET', false]),
    ]
    for (const [method, requested, matches] of cases) {
      pool.cleanMocks()
      pool.intercept({ path: '/', method: method as string }).reply(200, 'yes')
      const outcome = send('/', { method: requested })
      if (matches) assert.equal((await outcome).text, 'yes')
      else assert.match((await failure(outcome)).message, unmatched(`method '${requested}'`))
    }
  })

  test('matchers of a path', async (t) => {
    const { pool, send } = mocking(t)
    const cases: [unknown, object | undefined, string, boolean][] = [
      ['/a', undefined, '/a', true],
      ['/a', undefined, '/a?b=1', false],
      ['/a?b=1', undefined, '/a', false],
      ['/a?c=2&b=1', undefined, '/a?b=1&c=2', true],
      ['/a?x=1+2', undefined, '/a?x=1%202', true],
      ['/a?x=2&x=1', undefined, '/a?x=1&x=2', false],
      ['/a?x=2&y=0&x=1', undefined, '/a?x=2&x=1&y=0', true],
      ['/a', { b: 1, c: ['x', 'y'] }, '/a?c=x&c=y&b=1', true],
      ['/a#fragment', undefined, '/a', true],
      ['/x/../a', undefined, '/a', true],
      ['/a b', undefined, '/a%20b', true],
      ['http://other.test/a?b=1', undefined, '/a?b=1', true],
      ['a', undefined, '/a', true],
      [/^\/a/, undefined, '/a?z=1', true],
      [/z=1&a=2/, undefined, '/a?z=1&a=2', false],
      [/a=2&z=1/, undefined, '/a?z=1&a=2', true],
      [/^\/a$/, { b: 1 }, '/a', true],
      [(path: string) => path === '/a?a=1&b=2', undefined, '/a?b=2&a=1', true],
      [() => 'yes', undefined, '/a', false],
      ['/a', undefined, '/a/', false],
      ...NEVER.map((matcher): [unknown, undefined, string, boolean] => [matcher, undefined, '/a', false]),
    ]
    for (const [path, query, requested, matches] of cases) {
      pool.cleanMocks()
      pool.intercept({ path: path as string, ...(query && { query }) }).reply(200, 'yes')
      const outcome = send(requested)
      if (matches) assert.equal((await outcome).text, 'yes', `${String(path)} ${requested}`)
      else assert.match((await failure(outcome)).message, /not matched for path '/, String(path))
    }
    assert.throws(() => pool.intercept({ path: '/a?b=1', query: { c: 1 } }), /Query params cannot be passed/)
  })

  test("the path '' of an interceptor is '/'", async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '' }).reply(200, 'root')
    assert.equal((await send('/')).text, 'root')
  })

  test('the query of a request is matched', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/a?b=2&a=1' }).reply(200, 'yes')
    assert.equal((await send('/a', { query: { a: 1, b: 2 } })).text, 'yes')
  })

  test('ignoreTrailingSlash of the agent and of an interceptor', async (t) => {
    const { pool, send } = mocking(t, { ignoreTrailingSlash: true })
    pool.intercept({ path: '/a//' }).reply(200, 'a').persist()
    pool.intercept({ path: '/' }).reply(200, 'root').persist()
    pool.intercept({ path: '/strict', ignoreTrailingSlash: false }).reply(200, 'strict').persist()
    for (const path of ['/a', '/a/', '/a//']) assert.equal((await send(path)).text, 'a')
    for (const path of ['/', '//']) assert.equal((await send(path)).text, 'root')
    assert.equal((await send('/strict')).text, 'strict')
    assert.match((await failure(send('/strict/'))).message, /not matched for path/)
    const other = mocking(t)
    other.pool.intercept({ path: '/a?b=1', ignoreTrailingSlash: true }).reply(200, 'query')
    assert.equal((await other.send('/a/?b=1')).text, 'query')
  })

  test('acceptNonStandardSearchParameters', async (t) => {
    const { pool, send } = mocking(t, { acceptNonStandardSearchParameters: true })
    pool
      .intercept({ path: '/x', query: { a: ['1', '2'] } })
      .reply(200, 'list')
      .persist()
    pool
      .intercept({ path: '/x', query: { a: '"1,2"' } })
      .reply(200, 'quoted')
      .persist()
    pool.intercept({ path: '/x' }).reply(200, 'none').persist()
    for (const path of ['/x?a[]=1&a[]=2', '/x?a=1,2', '/x?a=1&a=2']) {
      assert.equal((await send(path)).text, 'list', path)
    }
    assert.equal((await send('/x?a="1,2"')).text, 'quoted')
    assert.equal((await send('/x')).text, 'none')
  })

  test('matchers of headers, by name', async (t) => {
    const { pool, send } = mocking(t)
    const cases: [unknown, unknown, boolean][] = [
      [{ 'X-A': '1' }, { 'x-a': '1', other: 'free' }, true],
      [{ 'x-a': '1' }, ['X-A', '1'], true],
      [{ 'x-a': '1' }, new Headers({ 'X-A': '1' }), true],
      [{ 'x-a': '1' }, new Map([['x-a', '1']]), true],
      [{ 'x-a': /^\d$/ }, { 'x-a': 1 }, true],
      [{ 'x-a': (value: string) => value === '1' }, { 'x-a': '1' }, true],
      [{ 'x-a': '1, 2' }, { 'x-a': ['1', '2'] }, true],
      [{ 'x-a': '1, 2' }, ['x-a', '1', 'x-a', '2'], true],
      [{ 'x-a': '2' }, { 'x-a': '1' }, false],
      [{ 'x-a': /undefined/ }, {}, false],
      [{ 'x-a': () => true }, undefined, false],
      [{ 'x-a': 1 }, { 'x-a': '1' }, false],
      [{}, undefined, true],
      [5, {}, false],
    ]
    for (const [headers, sent, matches] of cases) {
      pool.cleanMocks()
      pool.intercept({ path: '/', headers: headers as object as Record<string, string> }).reply(200, 'yes')
      const outcome = send('/', { headers: sent })
      if (matches) assert.equal((await outcome).text, 'yes')
      else assert.match((await failure(outcome)).message, /not matched for headers '/)
    }
  })

  test('matchers of headers, with one function for all', async (t) => {
    const { pool, send } = mocking(t)
    for (const headers of [
      { 'X-A': '1' },
      ['X-A', '1'],
      new Headers({ 'x-a': '1' }),
      new Map([['X-A', '1']]),
    ]) {
      let seen: unknown
      const keep = (fields: Record<string, string>): boolean => {
        seen = { ...fields }
        return true
      }
      pool.intercept({ path: '/', headers: keep }).reply(200, 'yes')
      assert.equal((await send('/', { headers })).text, 'yes')
      assert.deepEqual(seen, { 'x-a': '1' })
    }
    pool.intercept({ path: '/', headers: () => 0 as unknown as boolean }).reply(200)
    assert.match((await failure(send('/'))).message, /not matched for headers/)
  })

  const form = (value = '1'): FormData => {
    const data = new FormData()
    data.append('a', value)
    data.append('ü', 'x\ny')
    return data
  }

  test('matchers of a body', async (t) => {
    const { pool, send } = mocking(t)
    async function* pieces(): AsyncGenerator<string> {
      yield 'a'
      yield 'b'
    }
    const bytes = Buffer.from('ab')
    const binary = Buffer.from([0xff, 0xfe])
    const cases: [unknown, () => unknown, boolean][] = [
      ['ab', () => 'ab', true],
      ['ab', () => bytes, true],
      ['ab', () => new Uint8Array(bytes), true],
      ['ab', () => Readable.from(['a', 'b']), true],
      ['ab', pieces, true],
      ['ab', () => new Blob(['ab']), true],
      ['ab', () => 'abc', false],
      ['ab', () => undefined, false],
      ['', () => undefined, true],
      [/^a/, pieces, true],
      [/undefined|^$/, () => undefined, false],
      [/g/g, () => 'g', true],
      [(body: string) => body === 'ab', pieces, true],
      [(body: string) => body === 'ab', () => 'ab', true],
      [(body: unknown) => body === undefined, () => undefined, true],
      [(body: Buffer) => Buffer.isBuffer(body) && body.equals(binary), () => Readable.from([binary]), true],
      [bytes, () => 'ab', true],
      [binary, () => Readable.from([binary]), true],
      [new Uint8Array([1]), () => binary, false],
      [new Uint8Array(binary).buffer, () => binary, true],
      [new URLSearchParams('b=2&a=1'), () => 'a=1&b=2', true],
      [new URLSearchParams('b=2&a=1'), () => 'a=1', false],
      [{ b: [1, { c: null }], a: 1 }, () => '{"a":1,"b":[1,{"c":null}]}', true],
      [{ a: 1 }, () => '{"a":1,"b":2}', false],
      [{ a: 1 }, () => 'not json', false],
      [[1, 2], () => '[1,2]', true],
      [form(), () => form(), true],
      [form(), () => form('2'), false],
      [form(), () => 'text', false],
      [5, () => '5', false],
    ]
    for (const [body, sent, matches] of cases) {
      pool.cleanMocks()
      pool.intercept({ path: '/', method: 'POST', body: body as string }).reply(200, 'yes')
      const outcome = send('/', { method: 'POST', body: sent() })
      if (matches) assert.equal((await outcome).text, 'yes', String(body))
      else assert.match((await failure(outcome)).message, /not matched for body '/, String(body))
    }
  })

  test('matchers of a body that fetch sends', async (t) => {
    const { agent, pool } = mocking(t)
    const cases: [unknown, unknown][] = [
      ['text', 'text'],
      ['text', Buffer.from('text')],
      ['text', new Blob(['text'])],
      ['text', new Response('text').body!],
      [new URLSearchParams({ a: '1' }), new URLSearchParams({ a: '1' })],
      [form(), form()],
    ]
    const fetches = [fetch, globalThis.fetch] as unknown as (typeof fetch)[]
    for (const send of fetches) {
      for (const [matcher, body] of cases) {
        const sent = body instanceof ReadableStream ? new Response('text').body! : body
        pool.intercept({ path: '/', method: 'POST', body: matcher as string }).reply(200, 'yes')
        const init = { method: 'POST', body: sent, duplex: 'half', dispatcher: agent } as object
        assert.equal(await (await send(`${ORIGIN}/`, init)).text(), 'yes')
      }
    }
  })

  test('a body of more than 16 MiB cannot be matched', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/', method: 'POST', body: 'x' }).reply(200)
    const piece = Buffer.alloc(1024 * 1024)
    function* pieces(): Generator<Buffer> {
      for (let i = 0; i <= 16; i++) yield piece
    }
    const error = await failure(send('/', { method: 'POST', body: pieces() }))
    assert.deepEqual(
      [error.name, error.message],
      ['InvalidArgumentError', 'a body of more than 16777216 bytes cannot be matched'],
    )
  })

  test('a body that fails while it is collected fails the request', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/', method: 'POST', body: 'x' }).reply(200)
    async function* pieces(): AsyncGenerator<string> {
      yield 'x'
      throw new Error('broken')
    }
    assert.equal((await failure(send('/', { method: 'POST', body: pieces() }))).message, 'broken')
  })

  test('each matcher runs once, also if the body is collected in between', async (t) => {
    const { pool, send } = mocking(t)
    const calls: string[] = []
    const note = (name: string) => (): boolean => calls.push(name) > 0
    pool
      .intercept({ path: note('path'), method: note('method'), body: note('body'), headers: note('headers') })
      .reply(200)
    await send('/', { method: 'POST', body: Readable.from(['x']) })
    assert.deepEqual(calls, ['path', 'method', 'body', 'headers'])
  })

  test('RegExp matchers with the flags g and y match every request', async (t) => {
    const { pool, send } = mocking(t)
    pool
      .intercept({ path: /a/g, method: /G/y, headers: { h: /1/g } })
      .reply(200)
      .persist()
    for (let i = 0; i < 3; i++) assert.equal((await send('/a', { headers: { h: '1' } })).status, 200)
  })

  test('a matcher that rejects does not match, and does not end the process', async (t) => {
    const late = (() => Promise.reject(new Error('late'))) as never
    for (const options of [{ path: late }, { path: '/', body: late }, { path: '/', headers: { h: late } }]) {
      const { pool, send } = mocking(t)
      pool.intercept({ method: 'POST', ...options }).reply(200)
      const sent = send('/', { method: 'POST', body: 'b', headers: { h: '1' } })
      assert.match((await failure(sent)).message, /^Mock dispatch not matched/)
    }
  })

  test('a matcher that throws fails the request', async (t) => {
    const { pool, send } = mocking(t)
    const fail = (): never => {
      throw new Error('in the matcher')
    }
    pool.intercept({ path: fail }).reply(200)
    assert.equal((await failure(send('/'))).message, 'in the matcher')
    pool.cleanMocks()
    pool.intercept({ path: '/', method: 'POST', body: fail }).reply(200)
    assert.equal(
      (await failure(send('/', { method: 'POST', body: Readable.from(['x']) }))).message,
      'in the matcher',
    )
  })
})

test('a body that was collected for a matcher goes to the network with the same bytes', async (t) => {
  const bodies: string[] = []
  const origin = await startOrigin(t, WIRES[0]!, (request, response) => {
    let text = `${request.headers['content-type'] ?? 'none'} `
    request.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      bodies.push(text)
      response.end()
    })
  })
  const { agent } = mocking(t)
  agent.enableNetConnect()
  agent.get(origin.url).intercept({ path: '/', method: 'POST', body: 'never' }).reply(200)
  const form = new FormData()
  form.append('name', 'value')
  for (const body of [Readable.from(['a', 'b']), new Blob(['ab'], { type: 'text/x' }), form]) {
    const response = await agent.request({
      origin: origin.url,
      path: '/',
      method: 'POST',
      headers: ['x-a', '1'],
      body,
    })
    await response.body.dump()
  }
  assert.equal(bodies[0], 'none ab')
  assert.equal(bodies[1], 'text/x ab')
  const boundary = /boundary=(\S+)/.exec(bodies[2]!)![1]!
  assert.ok(bodies[2]!.includes(`--${boundary}\r\n`) && bodies[2]!.endsWith(`--${boundary}--\r\n`))
})
