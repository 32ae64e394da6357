/** A jar between the cache and the network: the cache does not see the cookies that its requests are sent with. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { CookieJar, cacheStores, type Dispatcher, type Interceptor, interceptors } from '../../src/index.ts'
import { composedAgent as agentOf, overTwoWires } from '../interceptor/two-wires.ts'
import { startOrigin, type Wire } from '../support/wire.ts'

const { cache, cookies, decompress, deduplicate, redirect, retry } = interceptors

/** Answers with the cookies of the request. */
function startSite(t: TestContext, wire: Wire, vary: string | null): Promise<{ url: string }> {
  return startOrigin(t, wire, (request, response) => {
    const headers: Record<string, string> = { 'cache-control': 'max-age=60' }
    if (vary !== null) headers['vary'] = vary
    response.writeHead(200, headers).end(request.headers.cookie ?? 'nobody')
  })
}

function jarOf(user: string, url: string): CookieJar {
  const jar = new CookieJar()
  jar.setCookie(`user=${user}`, url)
  return jar
}

async function page(dispatcher: Dispatcher, origin: string, more = {}): Promise<string> {
  const { body } = await dispatcher.request({ origin, path: '/', method: 'GET', ...more })
  return body.text()
}

overTwoWires('cookies nearer to the network than the cache', (wire) => {
  const between: readonly (readonly [string, readonly Interceptor[]])[] = [
    ['nothing', []],
    ['retry', [retry()]],
    ['decompress', [decompress()]],
    ['redirect', [redirect({ maxRedirections: 5 })]],
    ['deduplicate', [deduplicate()]],
  ]
  for (const type of ['shared', 'private'] as const) {
    for (const [name, others] of between) {
      it(`${type}, ${name} between: a page that varies with the cookies is nobody else's`, async (t) => {
        const { url } = await startSite(t, wire, 'accept, Cookie')
        const store = new cacheStores.MemoryCacheStore()
        for (const user of ['alice', 'bob']) {
          const layers = [cookies({ jar: jarOf(user, url) }), ...others, cache({ store, type })]
          assert.equal(await page(agentOf(t, wire, ...layers), url), `user=${user}`)
        }
      })
    }
  }

  it('a user who logs in does not get the page that nobody got', async (t) => {
    const { url } = await startSite(t, wire, 'cookie')
    const jar = new CookieJar()
    const agent = agentOf(t, wire, cookies({ jar }), cache())
    assert.equal(await page(agent, url), 'nobody')
    jar.setCookie('user=alice', url)
    assert.equal(await page(agent, url), 'user=alice')
    assert.equal(await page(agent, url, { cookies: false }), 'nobody')
    assert.equal(await page(agent, url), 'user=alice')
  })

  it('nor the one that another client has stored, once the cache knows of the jar', async (t) => {
    const { url } = await startSite(t, wire, 'cookie')
    const store = new cacheStores.MemoryCacheStore()
    const agent = agentOf(t, wire, cookies({ jar: jarOf('alice', url) }), cache({ store }))
    assert.equal(await page(agent, url), 'user=alice')
    assert.equal(await page(agentOf(t, wire, cache({ store })), url), 'nobody')
    assert.equal(await page(agent, url), 'user=alice')
  })

  it('concurrent users do not share a request', async (t) => {
    const { url } = await startSite(t, wire, 'cookie')
    const jar = jarOf('alice', url)
    const agent = agentOf(t, wire, cookies({ jar }), cache({ collapse: true }))
    const pages = await Promise.all([page(agent, url), page(agent, url, { cookies: false })])
    assert.deepEqual(pages, ['user=alice', 'nobody'])
  })

  it('a page that does not vary with them is stored', async (t) => {
    const { url } = await startSite(t, wire, 'accept')
    const agent = agentOf(t, wire, cookies(), cache({ cacheStatus: 'app' }))
    await page(agent, url)
    const { headers, body } = await agent.request({ origin: url, path: '/', method: 'GET' })
    await body.dump()
    assert.match(String(headers['cache-status']), /^app; hit/)
  })

  it('the status of the cache tells why nothing is stored', async (t) => {
    const { url } = await startSite(t, wire, 'cookie')
    const agent = agentOf(t, wire, cookies(), cache({ cacheStatus: 'app' }))
    const { headers, body } = await agent.request({ origin: url, path: '/', method: 'GET' })
    await body.dump()
    assert.equal(headers['cache-status'], 'app; fwd=miss; detail=vary')
  })

  it('a jar outside of the cache keeps users apart, and each gets the own page again', async (t) => {
    const { url } = await startSite(t, wire, 'cookie')
    const store = new cacheStores.MemoryCacheStore()
    for (const user of ['alice', 'bob', 'alice']) {
      const agent = agentOf(t, wire, cache({ store, cacheStatus: 'app' }), cookies({ jar: jarOf(user, url) }))
      assert.equal(await page(agent, url), `user=${user}`)
    }
  })
})
