import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errors, http } from '../../src/index.ts'
import { setStage } from './stage.ts'

const throwsNull = (): never => {
  throw null
}

type Row = readonly [options: unknown, message: RegExp]

const OF_CLIENT: readonly Row[] = [
  [undefined, /options of extend\(\) must be an object, not undefined/],
  [null, /must be an object, not null/],
  [[], /must be an object/],
  [{ baseURL: 'http://a/' }, /`baseURL` is not an option of extend\(\): did you mean baseUrl\?/],
  [{ prefixUrl: 'http://a/' }, /did you mean baseUrl/],
  [{ heders: {} }, /did you mean headers/],
  [{ params: {} }, /did you mean query/],
  [{ cookieJar: {} }, /did you mean cookies/],
  [{ agent: {} }, /did you mean dispatcher/],
  [{ json: 1 }, /`json` is not an option of extend\(\): it belongs to a call with a body/],
  [{ signal: null }, /`signal` is not an option of extend\(\): it belongs to a call/],
  [{ nonsense: 1 }, /^`nonsense` is not an option of extend\(\)$/],
  [{ timeout: 5000 }, /timeout must be an object: \{ attempt, total \} in milliseconds/],
  [{ timeout: { request: 5 } }, /`request` is not an option of timeout: did you mean total\?/],
  [{ timeout: { total: '5' } }, /timeout\.total must be a number of milliseconds/],
  [{ timeout: { attempt: -1 } }, /timeout\.attempt must be a number of milliseconds/],
  [{ retry: 'yes' }, /retry must be an object or a boolean, not string/],
  [{ retry: -2 }, /retry: invalid maxRetries/],
  [{ retry: { maxRetries: 'many' } }, /retry: invalid maxRetries/],
  [{ redirect: 1.5 }, /redirect: maxRedirections must be/],
  [{ redirect: 'follow' }, /redirect must be an object or a boolean, not string/],
  [{ headers: 'a: b' }, /headers must be an object, or an iterable of pairs/],
  [{ headers: ['a', 'b'] }, /headers must be an object, or an iterable of pairs/],
  [{ headers: { 'a b': '1' } }, /headers must have valid names: "a b" is none/],
  [{ headers: { a: 'hunter2\r\n' } }, /headers\.a must be a string/],
  [{ headers: { a: null } }, /headers\.a must be a string/],
  [{ headers: { a: {} } }, /headers\.a must be a string/],
  [{ query: 'a=b' }, /query must be an object or URLSearchParams/],
  [{ query: [['a', 'b']] }, /query must be an object or URLSearchParams/],
  [{ query: { a: {} } }, /query\.a must be a string, a finite number, a boolean/],
  [{ query: { a: null } }, /query\.a must be a string/],
  [{ query: { a: Number.NaN } }, /query\.a must be a string/],
  [{ hooks: () => {} }, /options of hooks must be an object, not function/],
  [
    { hooks: { beforeRequests: () => {} } },
    /`beforeRequests` is not an option of hooks: did you mean beforeRequest/,
  ],
  [{ hooks: { afterResponse: 1 } }, /hooks\.afterResponse must be a function or a list of functions/],
  [{ throwOnError: 'no' }, /throwOnError must be a boolean/],
  [{ dispatcher: {} }, /dispatcher must have a method dispatch/],
  [{ guard: 'everything' }, /guard/],
  [{ throttle: { rate: 'fast' } }, /throttle: invalid rate/],
  [{ circuitBreaker: { threshold: 5 } }, /circuitBreaker: invalid threshold/],
  [{ cache: { store: 5 } }, /cache: /],
  [{ cookies: {} }, /cookies: jar must be a CookieJar/],
  [{ decompress: 'gzip' }, /options must be an object or a boolean/],
  [{ decompress: { maxRatio: -1 } }, /decompress: maxRatio must be/],
  [{ auth: 'Bearer x' }, /auth must be an object or a boolean/],
  [{ auth: {} }, /auth needs exactly one of/],
  [{ auth: { bearer: 'x' } }, /auth: bearer must be a function/],
]

const OF_CALL: readonly Row[] = [
  [null, /options of a call with a body must be an object, not null/],
  ['text', /must be an object, not string/],
  [{ data: {} }, /`data` is not an option of a call with a body: did you mean json, form or body\?/],
  [{ searchParams: {} }, /did you mean query/],
  [{ formData: {} }, /did you mean multipart/],
  [{ responseType: 'json' }, /did you mean json\(\), text\(\) or bytes\(\) of the call/],
  [{ baseUrl: 'http://a/' }, /`baseUrl` is not an option of a call with a body: it belongs to extend\(\)/],
  [{ timeout: 1 }, /timeout must be an object/],
  [{ signal: {} }, /signal must be an EventEmitter or EventTarget/],
  [{ onUploadProgress: true }, /onUploadProgress must be a function/],
  [{ onDownloadProgress: true }, /onDownloadProgress must be a function/],
  [{ cookies: true }, /cookies of a call can only be false/],
  [{ redirect: {} }, /redirect of a call must be a number or false/],
  [{ json: 1, form: {} }, /a request has one body, not json and form/],
  [{ json: () => {} }, /json cannot be a function/],
  [{ json: 10n }, /json cannot be serialised/],
  [{ json: { toJSON: () => undefined } }, /json cannot be serialised: its toJSON\(\) returns nothing/],
  [{ json: { toJSON: throwsNull } }, /json cannot be serialised: null/],
  [{ json: Promise.resolve(1) }, /json is a promise: await it first/],
  [{ form: 'a=b' }, /form must be an object or URLSearchParams/],
  [{ form: { a: {} } }, /form\.a must be a string/],
  [{ multipart: 'a' }, /multipart must be a FormData or an object/],
  [{ multipart: { a: {} } }, /multipart\.a must be a string, a number, a boolean, a Blob/],
]

function refused(run: () => unknown, message: RegExp): void {
  assert.throws(run, (error: Error) => {
    assert.ok(error instanceof errors.InvalidArgumentError, String(error))
    assert.match(error.message, message)
    assert.doesNotMatch(error.message, /hunter2/)
    return true
  })
}

describe('a wrong option is refused at the call', () => {
  for (const [options, message] of OF_CLIENT) {
    test(`extend: ${message.source}`, () => refused(() => http.extend(options as object), message))
  }

  for (const [options, message] of OF_CALL) {
    test(`post: ${message.source}`, async (t) => {
      const { api, seen } = await setStage(t)
      refused(() => api.post('x', options as object), message)
      assert.deepEqual(seen, [])
    })
  }

  test('a body of a GET', async (t) => {
    const { api } = await setStage(t)
    refused(
      () => api.get('x', { json: 1 } as object),
      /`json` is not an option of a call: it belongs to a call with a body/,
    )
  })

  test('a method', async (t) => {
    const { api } = await setStage(t)
    for (const method of ['', 'a b', 'CONNECT', 5]) {
      refused(() => api.request(method as string, 'x'), /method must be a method of HTTP other than CONNECT/)
    }
  })

  test('where the prototype of all objects has some', async (t) => {
    const { api, seen } = await setStage(t)
    const prototype = Object.prototype as unknown as Record<string, unknown>
    prototype['throwOnError'] = 'polluted'
    prototype['json'] = 'polluted'
    try {
      await api.get('x').json()
      await api.post('x', { retry: false }).json()
    } finally {
      delete prototype['throwOnError']
      delete prototype['json']
    }
    assert.equal(seen.length, 2)
  })
})
