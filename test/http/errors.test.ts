import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import { errors, type StandardSchema } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { overEachWire } from '../support/wire.ts'
import { jsonOf, setStage } from './stage.ts'

overEachWire('the error for a status', (wire) => {
  test('names the request and has the parsed body', async (t) => {
    const { api, url } = await setStage(t, wire, jsonOf({ why: 'gone' }, 404))
    const error = await failure(api.get('users/1').json())
    assert.ok(error instanceof errors.ResponseError)
    assert.match(error.message, new RegExp(`^GET ${url}/v1/users/1 answered 404`))
    const { statusCode, body, bodyTruncated, method, origin, path } = error
    assert.deepEqual([statusCode, body, bodyTruncated], [404, { why: 'gone' }, false])
    assert.deepEqual([method, origin, path], ['GET', url, '/v1/users/1'])
  })

  test('is the same however the response is asked for', async (t) => {
    const { api } = await setStage(t, wire, jsonOf(null, 500))
    for (const ask of ['json', 'text', 'bytes', 'stream', 'response'] as const) {
      const error = await failure(api.get('x')[ask]())
      assert.ok(error instanceof errors.ResponseError, ask)
      assert.equal(error.statusCode, 500)
    }
    assert.ok((await failure(api.get('x'))) instanceof errors.ResponseError)
  })

  test('has the beginning of a long body', async (t) => {
    const { api } = await setStage(t, wire, (_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' })
      response.end('x'.repeat(3_000_000))
    })
    const error = (await failure(api.get('x').json())) as unknown as InstanceType<typeof errors.ResponseError>
    assert.deepEqual([error.bodyTruncated, String(error.body).length], [true, 1_048_576])
  })
})

describe('an error', () => {
  test('shows no secrets', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf(null, 400))
    const query = { access_token: 'hunter2', api_key: 'hunter3', page: 2 }
    const { message } = await failure(api.get('x?Signature=hunter4&q=1', { query }).json())
    assert.match(message, /\/v1\/x\?Signature=…&q=1&access_token=…&api_key=…&page=2 answered 400/)
    assert.doesNotMatch(message, /hunter/)
  })

  test('has the decoded body', async (t) => {
    const { api } = await setStage(t, undefined, (_request, response) => {
      response.writeHead(500, { 'content-type': 'application/problem+json', 'content-encoding': 'br' })
      response.end(brotliCompressSync('{"title":"no"}'))
    })
    assert.deepEqual((await failure(api.get('x').json()))['body'], { title: 'no' })
  })

  test('of a page in place of JSON says so', async (t) => {
    const page = '<!doctype html><title>502</title>'
    const { api } = await setStage(t, undefined, (request, response) => {
      response.writeHead(request.url!.endsWith('bad') ? 502 : 200, { 'content-type': 'text/html' })
      response.end(request.url!.endsWith('empty') ? '' : page)
    })
    const bad = await failure(api.get('bad').json())
    assert.match(bad.message, /answered 502/)
    assert.equal(bad['body'], page)
    const good = await failure(api.get('good').json())
    assert.match(
      good.message,
      /\/v1\/good answered 200 with what is not JSON \(text\/html\): "<!doctype html>/,
    )
    assert.ok(good.cause instanceof SyntaxError)
    assert.match((await failure(api.get('empty').json())).message, /: an empty body$/)
    assert.match((await failure(api.get('good').then((found) => found.json()))).message, /not JSON/)
  })

  test('of a layer between the call and its dispatcher says which request it is about', async (t) => {
    const { api, url } = await setStage(t, undefined, (request, response) => {
      const headers: Record<string, Record<string, string>> = {
        loop: { location: request.url! },
        away: { location: 'ftp://127.0.0.1/' },
      }
      const name = /\w+(?=\?)/.exec(request.url!)![0]
      if (headers[name] === undefined)
        response.writeHead(200, { 'content-encoding': name }).end('x'.repeat(40))
      else response.writeHead(302, headers[name]).end()
    })
    const first = ({ stack }: { stack?: string }) => stack!.split('\n', 1)[0]!
    for (const [path, message, attempts] of [
      ['loop', 'max redirects', '11 attempts'],
      ['away', 'Invalid URL protocol: the URL must start with `http:` or `https:`.', '1 attempt'],
      ['gzip', 'incorrect header check', '1 attempt'],
      ['br', 'Decompression failed', '1 attempt'],
    ] as const) {
      const error = await failure(api.get(`${path}?token=hunter2`).text())
      assert.equal(error.message, message)
      assert.deepEqual([error['method'], error['origin'], error['path']], ['GET', url, `/v1/${path}`])
      assert.ok(
        first(error).endsWith(`: ${message} (GET ${url}/v1/${path}?token=…: ${attempts})`),
        first(error),
      )
    }
    assert.ok((await failure(api.get('loop?a=b').json())) instanceof errors.MaxRedirectsError)
  })

  test('that a hook throws is the error of the call, and names each call if it throws it again', async (t) => {
    const own = new errors.RequestAbortedError('mine')
    const afterResponse = (): never => {
      throw own
    }
    const { api, url } = await setStage(t, undefined, jsonOf(1), {
      hooks: { afterResponse: [afterResponse] },
    })
    assert.equal(await failure(api.get('a').json()), own)
    const second = await failure(api.get('b').json())
    assert.ok(second instanceof errors.RequestAbortedError)
    assert.deepEqual([own['path' as keyof typeof own], second['path']], ['/v1/a', '/v1/b'])
    const first = ({ stack }: { stack?: string }) => stack!.split('\n', 1)[0]!
    assert.ok(first(own).endsWith(`: mine (GET ${url}/v1/a: 1 attempt)`), first(own))
    assert.ok(first(second).endsWith(`: mine (GET ${url}/v1/b: 1 attempt)`), first(second))
  })

  test('of the caller stays as it is', async (t) => {
    const { api } = await setStage(t)
    const reason = new errors.RequestAbortedError('mine')
    const stack = reason.stack
    const signal = AbortSignal.abort(reason)
    assert.equal(await failure(api.get('x', { signal }).json()), reason)
    assert.deepEqual([reason.stack, Object.hasOwn(reason, 'method')], [stack, false])
  })

  test('is not thrown with throwOnError: false', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf({ a: 1 }, 404))
    assert.deepEqual(await api.get('x', { throwOnError: false }).json(), { a: 1 })
    assert.equal((await api.extend({ throwOnError: false }).get('x')).statusCode, 404)
  })

  test('tells of a redirect that is not followed', async (t) => {
    const { api } = await setStage(t, undefined, (_request, response) => {
      response.writeHead(302, { location: '/v1/x' }).end()
    })
    assert.match((await failure(api.get('x', { redirect: false }).json())).message, /answered 302/)
    assert.ok((await failure(api.get('x').json())) instanceof errors.MaxRedirectsError)
  })

  test('of a connection is that of the dispatcher', async (t) => {
    const { api } = await setStage(t, undefined, (request) => request.socket.destroy())
    const error = await failure(api.get('x').json())
    assert.ok(error instanceof errors.SocketError)
    assert.equal(error.path, '/v1/x')
  })
})

describe('a schema', () => {
  const user: StandardSchema<{ name: string }> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate(value) {
        const { name } = value as { name?: unknown }
        if (typeof name === 'string') return { value: { name: name.toUpperCase() } }
        return { issues: [{ message: 'expected a string', path: ['name'] }] }
      },
    },
  }

  test('gives its output', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf({ name: 'ada' }))
    assert.deepEqual(await api.get('x').json(user), { name: 'ADA' })
    assert.deepEqual(await (await api.get('x')).json(user), { name: 'ADA' })
  })

  test('fails with what is wrong', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf({ name: 1 }))
    const error = await failure(api.get('x').json(user))
    assert.ok(error instanceof errors.ResponseError)
    assert.match(error.message, /answered 200 with what does not fit the schema: name: expected a string$/)
    assert.deepEqual(
      [error.body, error['issues']],
      [{ name: 1 }, [{ message: 'expected a string', path: ['name'] }]],
    )
  })

  test('may answer later, and throw', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf(1))
    const later = (validate: () => Promise<never>): StandardSchema<number> => ({
      '~standard': { version: 1, vendor: 'test', validate },
    })
    assert.equal(await api.get('x').json(later(async () => ({ value: 2 }) as never)), 2)
    const reason = new Error('broken')
    assert.equal(await failure(api.get('x').json(later(() => Promise.reject(reason)))), reason)
  })

  test('is checked at the call', async (t) => {
    const { api } = await setStage(t)
    assert.throws(() => api.get('x').json({} as never), /schema must implement Standard Schema/)
  })
})
