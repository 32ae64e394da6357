import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readBase, targetOf } from '../../src/http/target.ts'
import { errors, http } from '../../src/index.ts'
import type { Echo } from '../support/exchange.ts'
import { setStage } from './stage.ts'

const BASE = new URL('https://host/v1/')

function url(path: string | URL, base: URL | null = BASE): string {
  const { origin, path: target } = targetOf(path, base, null, null)
  return origin + target
}

describe('a path', () => {
  const RIGHT: readonly (readonly [string, string])[] = [
    ['users/1', 'https://host/v1/users/1'],
    ['/users/1', 'https://host/v1/users/1'],
    ['', 'https://host/v1/'],
    ['/', 'https://host/v1/'],
    ['users/', 'https://host/v1/users/'],
    ['users?page=2#top', 'https://host/v1/users?page=2'],
    ['a b/é', 'https://host/v1/a%20b/%C3%A9'],
    ['a/../b', 'https://host/v1/b'],
    ['documents:batch', 'https://host/v1/documents:batch'],
    ['javascript:alert(1)', 'https://host/v1/javascript:alert(1)'],
    ['user@evil.example', 'https://host/v1/user@evil.example'],
    ['.hidden', 'https://host/v1/.hidden'],
    ['https://host/v1/users', 'https://host/v1/users'],
    ['HTTPS://HOST:443/v1/users', 'https://host/v1/users'],
  ]
  for (const [path, expected] of RIGHT) {
    test(`${JSON.stringify(path)} is ${expected}`, () => assert.equal(url(path), expected))
  }

  const WRONG: readonly (readonly [unknown, RegExp])[] = [
    ['//evil.example/x', /must not begin with two slashes/],
    ['\\\\evil.example/x', /must not begin with two slashes/],
    ['/\\evil.example', /must not begin with two slashes/],
    ['../admin', /leads out of baseUrl https:\/\/host\/v1\//],
    ['a/../../admin', /leads out of baseUrl/],
    ['%2e%2e/admin', /leads out of baseUrl/],
    ['..\\admin', /leads out of baseUrl/],
    ['https://evil.example/v1/x', /leads out of baseUrl .*pass a URL object/],
    ['http://host/v1/x', /leads out of baseUrl/],
    ['https://host/v2', /leads out of baseUrl/],
    ['https:evil.example', /leads out of baseUrl/],
    [undefined, /path must be a string or a URL/],
    [1, /path must be a string or a URL/],
    [new URL('ftp://host/'), /must start with http: or https:/],
    [new URL('https://user:hunter2@host/'), /must not have a user name or password/],
  ]
  for (const [path, expected] of WRONG) {
    test(`${String(path)} is refused`, () => {
      assert.throws(
        () => url(path as string),
        (error: Error) => {
          assert.ok(error instanceof errors.InvalidArgumentError)
          assert.match(error.message, expected)
          assert.doesNotMatch(error.message, /hunter2/)
          return true
        },
      )
    })
  }

  test('without a base is an absolute URL', () => {
    assert.equal(url('http://a/b?c', null), 'http://a/b?c')
    assert.throws(() => http.get('users'), /path must be an absolute URL where there is no baseUrl: users/)
    assert.throws(() => http.get('http://h:99999/a?token=x'), /path must be a valid URL: http:\/\/h:99999\/a/)
  })
})

describe('a base', () => {
  test('ends with a slash', () => {
    assert.equal(readBase('https://host', null).href, 'https://host/')
    assert.equal(readBase('https://host/v1', null).href, 'https://host/v1/')
    assert.equal(readBase(new URL('https://host/v1'), null).href, 'https://host/v1/')
  })

  test('that is relative is below that of the parent', () => {
    assert.equal(readBase('users', BASE).href, 'https://host/v1/users/')
    assert.equal(readBase('/users/', BASE).href, 'https://host/v1/users/')
    assert.equal(readBase('https://other/', BASE).href, 'https://other/')
    assert.throws(() => readBase('../v2', BASE), /leads out of baseUrl/)
  })

  test('is checked', () => {
    for (const [given, expected] of [
      ['host/v1', /baseUrl is not a URL: host\/v1/],
      ['ftp://host', /must start with http: or https:/],
      ['https://host/?key=hunter2', /neither a query nor a fragment/],
      ['https://host/#a', /neither a query nor a fragment/],
      ['https://user:hunter2@host/', /must not have a user name or password: use the option auth/],
      [5, /baseUrl must be a string or a URL/],
    ] as const) {
      assert.throws(() => http.extend({ baseUrl: given as string }), expected)
    }
  })
})

test('a URL object may lead elsewhere, without what the client has for its origin', async (t) => {
  const home = await setStage(t, undefined, undefined, {
    headers: {
      authorization: 'Bearer hunter2',
      'x-api-key': 'hunter3',
      'x-tenant': '7',
      accept: 'text/plain',
    },
    query: { key: 'hunter4' },
    auth: undefined,
  })
  const other = await setStage(t)
  const { headers, url } = await home.api
    .get(new URL(`${other.url}/x`), { headers: { 'x-own': '1' } })
    .json<Echo>()
  assert.equal(url, '/x')
  assert.deepEqual([headers['accept'], headers['x-own']], ['text/plain', '1'])
  assert.doesNotMatch(JSON.stringify(headers), /hunter|x-tenant/)
  const own = await home.api.get(new URL(`${home.url}/v1/x`)).json<Echo>()
  assert.deepEqual([own.url, own.headers['x-api-key']], ['/v1/x?key=hunter4', 'hunter3'])
})
