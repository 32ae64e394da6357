import assert from 'node:assert/strict'
import type http from 'node:http'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import {
  Agent,
  type AgentOptions,
  BalancedPool,
  type BearerContext,
  Client,
  fetch,
  type Interceptor,
  interceptors,
  request,
} from '../../../src/index.ts'
import { deferred, failure } from '../../support/exchange.ts'
import { eventually, turns } from '../../support/fake-clock.ts'
import { overEachWire, startOrigin, wireOptions } from '../../support/wire.ts'

/** Lets in whoever has one of these tokens, and notes what it is shown. */
class TokenOrigin {
  readonly good = new Set<string>()
  readonly shown: (string | undefined)[] = []
  readonly listener = (incoming: http.IncomingMessage, response: http.ServerResponse): void => {
    incoming.resume()
    const { authorization } = incoming.headers
    this.shown.push(authorization)
    if (incoming.url === '/token') response.end('fresh')
    else if (incoming.url!.startsWith('/to/')) {
      const location = decodeURIComponent(incoming.url!.slice(4))
      response.writeHead(307, { location }).end()
    } else {
      response.statusCode = this.good.has(authorization?.replace('Bearer ', '') ?? '') ? 200 : 401
      response.end(response.statusCode === 200 ? 'welcome' : 'no entry')
    }
  }
}

/** Makes t1, t2 and so on. */
function tokens() {
  const contexts: BearerContext[] = []
  const bearer = (context: BearerContext): string => `t${contexts.push(context)}`
  return { contexts, bearer }
}

overEachWire('interceptors.auth with Bearer', (wire) => {
  async function open(t: TestContext, ...made: Interceptor[]) {
    const origin = new TokenOrigin()
    const { url } = await startOrigin(t, wire, origin.listener)
    const client = new Client(url, wireOptions(wire))
    const agent = new Agent(wireOptions(wire) as AgentOptions)
    t.after(() => Promise.all([client.destroy(), agent.destroy()]))
    const composed = client.compose(...made)
    const send = async (path = '/', rest: object = {}) => {
      const response = await composed.request({ path, method: 'GET', ...rest })
      return `${response.statusCode} ${await response.body.text()}`
    }
    return { origin, url, client, composed, agent, send }
  }

  test('one token for all requests, until it is refused', async (t) => {
    const { contexts, bearer } = tokens()
    const { origin, send, url } = await open(t, interceptors.auth({ bearer }))
    origin.good.add('t1')
    assert.deepEqual(await Promise.all([send(), send(), send()]), [
      '200 welcome',
      '200 welcome',
      '200 welcome',
    ])
    origin.good.clear()
    origin.good.add('t2')
    assert.equal(await send('/', { method: 'POST', body: 'text' }), '200 welcome')
    const told = contexts.map(({ origin: name, refused }) => [name, refused])
    assert.deepEqual(told, [
      [url, false],
      [url, true],
    ])
    assert.deepEqual(origin.shown.slice(3), ['Bearer t1', 'Bearer t2'])
  })

  test('any number of concurrent 401s, also late ones, ask for one token', async (t) => {
    const answers = [deferred<string>(), deferred<string>()]
    let calls = 0
    const bearer = (): Promise<string> => answers[calls++]!.promise
    const origin = new TokenOrigin()
    const late: (() => void)[] = []
    const { url } = await startOrigin(t, wire, (incoming, response) => {
      const isLate = incoming.url === '/late' && late.length === 0
      if (isLate) late.push(() => origin.listener(incoming, response))
      else origin.listener(incoming, response)
    })
    const agent = new Agent(wireOptions(wire) as AgentOptions)
    t.after(() => agent.destroy())
    const dispatcher = agent.compose(interceptors.auth({ bearer, origins: url }))
    const send = async (path: string) => (await request(url + path, { dispatcher })).statusCode
    const all = ['/late', ...Array<string>(50).fill('/')].map(send)
    answers[0]!.resolve('old')
    await eventually(() => origin.shown.length === 50 && late.length === 1)
    await eventually(() => calls === 2)
    origin.good.add('new')
    const meanwhile = send('/')
    answers[1]!.resolve('new')
    await eventually(() => origin.shown.length === 101)
    late[0]!()
    assert.deepEqual(new Set(await Promise.all([...all, meanwhile])), new Set([200]))
    assert.equal(calls, 2)
    assert.equal(origin.shown.filter((field) => field === 'Bearer old').length, 51)
  })

  test('401 forever: a request is sent twice, and its last answer is delivered', async (t) => {
    const { contexts, bearer } = tokens()
    const { origin, send } = await open(t, interceptors.auth({ bearer }))
    assert.equal(await send(), '401 no entry')
    assert.deepEqual([origin.shown, contexts.length], [['Bearer t1', 'Bearer t2'], 2])
  })

  test('a promise of another library that has failed already fails the request', async (t) => {
    const reason = new Error('no token today')
    const answers = [
      // biome-ignore lint/suspicious/noThenProperty: what another library may return
      { then: (_onToken: unknown, onError: (error: Error) => void) => onError(reason) },
      // biome-ignore lint/suspicious/noThenProperty: what another library may return
      { then: (onToken: (token: string) => void) => onToken('no token') },
    ]
    const { send, origin } = await open(t, interceptors.auth({ bearer: () => answers.shift() as never }))
    assert.equal(await failure(send()), reason)
    assert.match((await failure(send())).message, /bearer must return a token without spaces/)
    assert.deepEqual(origin.shown, [])
  })

  test('a body that cannot be sent again: its 401 is delivered, the next request has a new token', async (t) => {
    const { bearer } = tokens()
    const { origin, send } = await open(t, interceptors.auth({ bearer }))
    origin.good.add('t2')
    assert.equal(await send('/', { method: 'POST', body: Readable.from(['a', 'b']) }), '401 no entry')
    assert.equal(await send('/', { method: 'POST', body: Readable.from(['a', 'b']) }), '200 welcome')
    assert.deepEqual(origin.shown, ['Bearer t1', 'Bearer t2'])
  })

  test('what the function throws or rejects with fails the requests that wait, and the next one asks again', async (t) => {
    const reason = new Error('no token today')
    let calls = 0
    const bearer = (): string | Promise<string> => {
      if (++calls === 1) throw reason
      return calls === 2 ? Promise.reject(reason) : 'good'
    }
    const { origin, send } = await open(t, interceptors.auth({ bearer }))
    origin.good.add('good')
    const body = Readable.from(['x'])
    assert.equal(await failure(send('/', { method: 'POST', body })), reason)
    assert.equal(body.destroyed, true)
    assert.deepEqual(await Promise.all([failure(send()), failure(send())]), [reason, reason])
    assert.equal(await send(), '200 welcome')
    assert.deepEqual([calls, origin.shown], [3, ['Bearer good']])
  })

  test('what cannot be a token is refused without being shown', async (t) => {
    for (const wrong of ['two words', 'line\r\nbreak: x', '', 5, {}, 'b\u00e4r']) {
      for (const answer of [wrong, Promise.resolve(wrong)]) {
        const { origin, send } = await open(t, interceptors.auth({ bearer: () => answer as string }))
        const error = await failure(send())
        assert.equal(error['code'], 'UND_ERR_INVALID_ARG')
        assert.equal(error.message, 'bearer must return a token without spaces, or null')
        assert.deepEqual(origin.shown, [])
      }
    }
  })

  test('null is a request without a token', async (t) => {
    let calls = 0
    const { origin, send } = await open(t, interceptors.auth({ bearer: () => (++calls > 1 ? 'good' : null) }))
    origin.good.add('good')
    assert.equal(await send(), '200 welcome')
    assert.deepEqual(origin.shown, [undefined, 'Bearer good'])
  })

  test('a function that never answers: each request can be aborted, and the last one ends the wait', async (t) => {
    const contexts: BearerContext[] = []
    const { origin, send } = await open(
      t,
      interceptors.auth({
        bearer: (context) => (contexts.push(context) === 1 ? new Promise<string>(() => {}) : 'good'),
      }),
    )
    origin.good.add('good')
    const controllers = [new AbortController(), new AbortController()]
    const all = controllers.map(({ signal }) => failure(send('/', { signal })))
    controllers[0]!.abort(new Error('one'))
    assert.equal((await all[0]!).message, 'one')
    assert.equal(contexts[0]!.signal.aborted, false)
    controllers[1]!.abort(new Error('two'))
    assert.equal((await all[1]!).message, 'two')
    assert.equal(contexts[0]!.signal.aborted, true)
    assert.equal(await send(), '200 welcome')
    assert.equal(contexts.length, 2)
  })

  test('a request of the function itself goes through without a token', async (t) => {
    const opened = await open(
      t,
      interceptors.auth({
        bearer: async () => {
          await turns(1)
          const { body } = await opened.composed.request({ path: '/token', method: 'GET' })
          return body.text()
        },
      }),
    )
    opened.origin.good.add('fresh')
    const all = await Promise.all([opened.send(), opened.send()])
    assert.deepEqual(all, ['200 welcome', '200 welcome'])
    assert.deepEqual(opened.origin.shown, [undefined, 'Bearer fresh', 'Bearer fresh'])
  })

  test('an authorization of the caller stays, and its 401 is delivered', async (t) => {
    const { contexts, bearer } = tokens()
    const { origin, send } = await open(t, interceptors.auth({ bearer }))
    assert.equal(await send('/', { headers: { Authorization: 'Bearer own' } }), '401 no entry')
    assert.deepEqual([origin.shown, contexts.length], [['Bearer own'], 0])
  })

  test('no other origin gets the token: named, after a redirect outside, inside, or of fetch', async (t) => {
    const other = new TokenOrigin()
    const { url: elsewhere } = await startOrigin(t, wire, other.listener)
    const { contexts, bearer } = tokens()
    const { origin, url, agent } = await open(t)
    origin.good.add('t1')
    const auth = interceptors.auth({ bearer, origins: [url] })
    const redirect = interceptors.redirect({ maxRedirections: 2 })
    const there = `${url}/to/${encodeURIComponent(`${elsewhere}/`)}`
    const statuses: number[] = []
    for (const dispatcher of [agent.compose(auth, redirect), agent.compose(redirect, auth)]) {
      statuses.push((await request(there, { dispatcher, method: 'POST', body: 'x' })).statusCode)
      statuses.push((await request(elsewhere, { dispatcher })).statusCode)
    }
    statuses.push((await fetch(there, { dispatcher: agent.compose(auth) })).status)
    // A 401 of the other origin says nothing about the token.
    assert.deepEqual(statuses, [401, 401, 401, 401, 401])
    assert.deepEqual(new Set(other.shown), new Set([undefined]))
    assert.deepEqual(origin.shown, ['Bearer t1', 'Bearer t1', 'Bearer t1'])
    assert.equal(contexts.length, 1)
  })

  test('each origin has a token of its own', async (t) => {
    const first = await open(t)
    const second = await open(t)
    const dispatcher = first.agent.compose(
      interceptors.auth({ bearer: ({ origin }) => Buffer.from(origin).toString('hex'), origins: () => true }),
    )
    for (const { url, origin } of [first, second]) {
      const token = Buffer.from(url).toString('hex')
      origin.good.add(token)
      assert.equal((await request(url, { dispatcher })).statusCode, 200)
      assert.deepEqual(origin.shown, [`Bearer ${token}`])
    }
  })

  test('neither an error nor its stack shows the token', async (t) => {
    const { url } = await startOrigin(t, wire, (incoming) => incoming.socket.destroy())
    const agent = new Agent(wireOptions(wire) as AgentOptions)
    t.after(() => agent.destroy())
    const dispatcher = agent.compose(interceptors.auth({ bearer: () => 'verysecret', origins: url }))
    const error = await failure(request(url, { dispatcher }))
    const { inspect } = await import('node:util')
    assert.doesNotMatch(`${error.stack}${inspect(error, { depth: 9, showHidden: true })}`, /verysecret/)
  })
})

test('Basic is sent at once, as UTF-8, and its 401 is delivered', async (t) => {
  const origin = new TokenOrigin()
  const { url } = await startOrigin(t, { name: 'h1', secure: false, multiplexes: false }, origin.listener)
  const pool = new BalancedPool([url])
  t.after(() => pool.destroy())
  const user = { username: 'test', password: '123\u00a3' }
  const composed = pool.compose(interceptors.auth({ basic: user }))
  user.password = 'changed'
  assert.equal((await composed.request({ path: '/', method: 'GET' })).statusCode, 401)
  // RFC 7617 §2.1.
  assert.deepEqual(origin.shown, ['Basic dGVzdDoxMjPCow=='])
})

test('a shared cache outside stores no response to a request with credentials, unless it is for all', async (t) => {
  let count = 0
  const wire = { name: 'h1', secure: false, multiplexes: false } as const
  const { url } = await startOrigin(t, wire, (incoming, response) => {
    const isPublic = incoming.url === '/public'
    response.setHeader('cache-control', isPublic ? 'public, max-age=60' : 'max-age=60')
    response.end(String(++count))
  })
  const client = new Client(url)
  t.after(() => client.destroy())
  const composed = client.compose(interceptors.auth({ bearer: () => 't' }), interceptors.cache())
  const send = async (path: string) => (await composed.request({ path, method: 'GET' })).body.text()
  assert.deepEqual([await send('/'), await send('/')], ['1', '2'])
  assert.deepEqual([await send('/public'), await send('/public')], ['3', '3'])
})

test('options that mean nothing are refused when they are given', () => {
  const agent = new Agent()
  const user = { username: 'u', password: 'p' }
  const exactlyOne = 'auth needs exactly one of bearer, basic and digest'
  const basic = 'basic must have a username without a colon and a password'
  const digest = 'digest must have a username and a password'
  const origins = 'origins must be an origin, a list of origins, or a function'
  for (const [options, message] of [
    [undefined, exactlyOne],
    [{}, exactlyOne],
    [{ basic: user, digest: user }, exactlyOne],
    [{ bearer: 'token' }, 'bearer must be a function'],
    [{ basic: { ...user, username: 'a:b' } }, basic],
    [{ basic: { username: 'u' } }, basic],
    [{ basic: { ...user, password: 'a\nb' } }, basic],
    [{ digest: 'u:p' }, digest],
    [{ basic: user, origins: 'example.com' }, origins],
    [{ basic: user, origins: 'https://example.com/path' }, origins],
    [{ basic: user, origins: 'https://u@example.com' }, origins],
    [{ basic: user, origins: ['ftp://example.com'] }, origins],
    [{ basic: user, origins: 5 }, origins],
    [5, 'options must be an object'],
  ] as const) {
    const refused = { code: 'UND_ERR_INVALID_ARG', message }
    assert.throws(() => interceptors.auth(options as never), refused, JSON.stringify(options))
  }
  // Whoever is asked first would get them.
  assert.throws(() => agent.compose(interceptors.auth({ basic: user })), {
    code: 'UND_ERR_INVALID_ARG',
    message: 'origins must say who gets the credentials: the dispatcher has many origins',
  })
  agent.compose(interceptors.auth({ basic: user, origins: new URL('https://example.com') }))
})

test('a function of origins must answer at once, with a boolean', async (t) => {
  const agent = new Agent()
  t.after(() => agent.destroy())
  const origins = (async () => true) as never
  const dispatcher = agent.compose(interceptors.auth({ bearer: () => 't', origins }))
  const error = await failure(request('http://localhost:1/', { dispatcher }))
  assert.equal(error.message, 'origins must return a boolean')
})
