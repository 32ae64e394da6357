import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { linkTarget } from '../../src/http/link-header.ts'
import { type Echo, failure } from '../support/exchange.ts'
import { overEachWire } from '../support/wire.ts'
import { setStage } from './stage.ts'

async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const page of pages) list.push(page)
  return list
}

overEachWire('paginate()', (wire) => {
  test('follows the links of the pages', async (t) => {
    const { api, seen } = await setStage(t, wire, (request, response) => {
      const page = Number(new URL(request.url!, 'http://x').searchParams.get('page') ?? 1)
      const link = `</v1/items?page=${page + 1}&size=2>; rel="next", </v1/items?page=1>; rel=first`
      response.writeHead(200, page < 3 ? { link } : {})
      response.end(JSON.stringify([page]))
    })
    assert.deepEqual(await all(api.paginate<number[]>('items', { query: { size: 2 } })), [[1], [2], [3]])
    assert.deepEqual(seen, [
      'GET /v1/items?size=2',
      'GET /v1/items?page=2&size=2',
      'GET /v1/items?page=3&size=2',
    ])
  })
})

describe('paginate()', () => {
  test('asks next, and requests no page before it is wanted', async (t) => {
    const { api, seen } = await setStage(t, undefined, (request, response) => {
      const cursor = Number(new URL(request.url!, 'http://x').searchParams.get('cursor') ?? 0)
      response.end(JSON.stringify({ items: [cursor], cursor: cursor < 9 ? cursor + 1 : null }))
    })
    const next = ({ cursor }: { cursor: number | null }) => (cursor === null ? null : { query: { cursor } })
    const pages = api.paginate<{ items: number[]; cursor: number | null }>('items', { next, query: { a: 1 } })
    assert.deepEqual(seen, [])
    for await (const { items } of pages) if (items[0] === 1) break
    assert.deepEqual(seen, ['GET /v1/items?a=1', 'GET /v1/items?a=1&cursor=1'])
  })

  test('waits for next, and refuses what leads nowhere', async (t) => {
    const { api, seen } = await setStage(t, undefined, (_request, response) => response.end('1'))
    const steps = [{ query: { page: 2 } }, null]
    const query = new URLSearchParams('a=1&a=2')
    await all(api.paginate('x', { query, next: async () => steps.shift() }))
    assert.deepEqual(seen, ['GET /v1/x?a=1&a=2', 'GET /v1/x?a=1&a=2&page=2'])
    for (const wrong of [5, {}, true]) {
      const error = await failure(all(api.paginate('x', { next: () => wrong as never })))
      assert.match(error.message, /next must return a string, a URL, \{ query \} or null/)
    }
  })

  test('takes a path relative to the page', async (t) => {
    const { api, seen } = await setStage(t, undefined, (_request, response) => response.end('1'))
    const steps = ['b', '?c=1', '/v1/d', undefined]
    await all(api.paginate('dir/a', { next: () => steps.shift() }))
    assert.deepEqual(seen, ['GET /v1/dir/a', 'GET /v1/dir/b', 'GET /v1/dir/b?c=1', 'GET /v1/d'])
  })

  test('leaves credentials at home', async (t) => {
    const other = await setStage(t)
    const { api } = await setStage(
      t,
      undefined,
      (_request, response) => response.writeHead(200, { link: `<${other.url}/more>; rel=next` }).end('{}'),
      { headers: { authorization: 'Bearer hunter2', 'x-api-key': 'hunter3' }, query: { key: 'hunter4' } },
    )
    for (const options of [{}, { headers: { 'x-token': 'hunter5' } }]) {
      const [, last] = await all(api.paginate<Echo>('x', options))
      assert.equal(last!.url, '/more')
      assert.doesNotMatch(JSON.stringify(last), /hunter/)
    }
  })

  test('ends with an error where a page leads to itself', async (t) => {
    const { api, seen } = await setStage(t, undefined, (_request, response) => {
      response.writeHead(200, { link: '<?token=hunter2>; rel=next' }).end('1')
    })
    const error = await failure(all(api.paginate('x')))
    assert.match(error.message, /the page after .*\/v1\/x\?token=… is the same one/)
    assert.equal(seen.length, 2)
  })

  test('shows no secret where a page has an invalid link', async (t) => {
    const { api } = await setStage(t, undefined, (_request, response) => {
      response.writeHead(200, { link: '<http://[/>; rel=next' }).end('1')
    })
    const error = await failure(all(api.paginate('x', { query: { token: 'hunter2' } })))
    assert.match(error.message, /the URL of the next page is invalid/)
    assert.doesNotMatch(inspect(error, { showHidden: true }), /hunter2/)
  })

  test('fails with the error of a page', async (t) => {
    const { api } = await setStage(t, undefined, (_request, response) => response.writeHead(500).end())
    assert.match((await failure(all(api.paginate('x')))).message, /answered 500/)
  })

  test('checks its arguments at the call', async (t) => {
    const { api } = await setStage(t)
    assert.throws(() => api.paginate('../x'), /leads out of baseUrl/)
    assert.throws(() => api.paginate('x', { next: 1 } as never), /next must be a function/)
    assert.throws(
      () => api.paginate('x', { transform: 1 } as never),
      /`transform` is not an option of paginate\(\)/,
    )
    assert.throws(() => api.paginate('x', { schema: 1 } as never), /schema must implement Standard Schema/)
    assert.throws(() => api.paginate('x', { timeout: 1 } as never), /timeout must be an object/)
  })
})

describe('a Link field', () => {
  const FIELDS: readonly (readonly [string | string[] | undefined, string | null])[] = [
    [undefined, null],
    ['', null],
    ['</a>; rel=next', '/a'],
    ['</a>; rel="next"', '/a'],
    ['</a>;rel=prev, </b>;REL=NEXT', '/b'],
    ['</a>; title="x, <y>; rel=next"; rel=prev, </b>; rel="last next"', '/b'],
    ['</a>; title="\\"; rel=next"; rel="next"', '/a'],
    ['</a>; rel=prev; rel=next', null],
    ['</a>; rel=next; anchor="#x", </b>; rel=next', '/b'],
    [['</a>; rel=prev', '</b>; rel=next'], '/b'],
    ['</a,b>; rel=next', '/a,b'],
    ['</a', null],
    ['garbage; rel=next', null],
    ['</a>; rel', null],
  ]
  for (const [field, expected] of FIELDS) {
    test(`${field} leads to ${expected}`, () => assert.equal(linkTarget(field, 'next'), expected))
  }

  test('of any text is read in no time', () => {
    const started = performance.now()
    for (const part of ['<', '<>;', '<>;a="', '; ', '<>; a = ', '\\"'])
      linkTarget(part.repeat(20_000), 'next')
    assert.ok(performance.now() - started < 5000)
  })
})
