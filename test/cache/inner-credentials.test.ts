/** Credentials between the cache and the network: the cache does not see whose they are. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { HiddenFields } from '../../src/cache/hidden-fields.ts'
import { type Dispatcher, interceptors } from '../../src/index.ts'
import { composedAgent as agentOf, overTwoWires } from '../interceptor/two-wires.ts'
import { startOrigin, type Wire } from '../support/wire.ts'

const { auth, cache } = interceptors

/** Counts the requests in its answers. */
function startSite(t: TestContext, wire: Wire): Promise<{ url: string }> {
  let count = 0
  return startOrigin(t, wire, (request, response) => {
    const { authorization = 'nobody' } = request.headers
    response.writeHead(200, { 'cache-control': 'max-age=60' }).end(`${++count} for ${authorization}`)
  })
}

async function page(dispatcher: Dispatcher, origin: string): Promise<string> {
  const { body } = await dispatcher.request({ origin, path: '/', method: 'GET' })
  return body.text()
}

overTwoWires('credentials nearer to the network than the cache', (wire) => {
  it('keep the responses of their origin out of a shared cache, and those of no other', async (t) => {
    const [closed, open] = [await startSite(t, wire), await startSite(t, wire)]
    const bearer = auth({ bearer: () => 'alice', origins: [closed.url] })
    const agent = agentOf(t, wire, bearer, cache())
    for (const count of [1, 2]) assert.equal(await page(agent, closed.url), `${count} for Bearer alice`)
    for (let i = 0; i < 2; i++) assert.equal(await page(agent, open.url), '1 for nobody')
    assert.equal(await page(agent, closed.url), '3 for Bearer alice')
  })
})

it('cookies are for any origin, and credentials for all when there are too many to remember', () => {
  const hidden = new HiddenFields()
  const [a, b] = ['https://a.test', 'https://b.test']
  hidden.add(`${a}#host=c.test`, ['authorization'])
  assert.deepEqual([...hidden.of(a)], ['authorization'])
  assert.deepEqual([...hidden.of(`${a} partition`)], ['authorization'])
  assert.deepEqual([...hidden.of(b)], [])
  hidden.add(a, ['cookie'])
  assert.deepEqual([...hidden.of(b)], ['cookie'])
  assert.deepEqual([...hidden.of(a)], ['authorization', 'cookie'])
  for (let i = 0; i < 999; i++) hidden.add(`https://${i}.test`, ['authorization'])
  hidden.add(a, ['authorization'])
  assert.deepEqual([...hidden.of(b)], ['cookie'])
  hidden.add('https://999.test', ['authorization'])
  assert.deepEqual([...hidden.of(b)].sort(), ['authorization', 'cookie'])
})
