import assert from 'node:assert/strict'
import { Agent, fetch, MockAgent, request } from '#library'
import { HttpResponse, http } from '#msw'
import { setupServer } from '#msw/node'

/** Answers the fetch of the runtime and node:http. */
function mocks(t, ...handlers) {
  const server = setupServer(...handlers)
  server.listen({ onUnhandledRequest: 'bypass' })
  t.after(() => server.close())
}

export default {
  package: 'msw',
  about: 'alongside: it mocks the fetch of the runtime, `MockAgent` that of the library',
  own: true,
  checks: {
    'mocks the fetch of the runtime while request() goes to the server': async (t) => {
      const at = await t.serve((_, response) => response.end('real'))
      mocks(
        t,
        http.get(`${at}/`, () => HttpResponse.text('mocked')),
      )
      assert.equal(await (await globalThis.fetch(`${at}/`)).text(), 'mocked')
      assert.equal(await (await request(at)).body.text(), 'real')
    },
    'leaves fetch() of ours alone': async (t) => {
      const at = await t.serve((_, response) => response.end('real'))
      mocks(
        t,
        http.get(`${at}/`, () => HttpResponse.text('mocked')),
      )
      assert.equal(await (await fetch(`${at}/`)).text(), 'real')
    },
    'passes what it does not mock to a dispatcher': async (t) => {
      const at = await t.serve((_, response) => response.end('real'))
      mocks(t)
      const dispatcher = new Agent()
      t.after(() => dispatcher.close())
      assert.equal(await (await globalThis.fetch(at, { dispatcher })).text(), 'real')
    },
    'lets MockAgent mock ours at the same time': async (t) => {
      mocks(
        t,
        http.get('http://a.test/', () => HttpResponse.json({ from: 'msw' })),
      )
      const agent = new MockAgent()
      agent.disableNetConnect()
      t.after(() => agent.close())
      agent.get('http://a.test').intercept({ path: '/' }).reply(200, { from: 'ours' })
      assert.deepEqual(await (await globalThis.fetch('http://a.test/')).json(), { from: 'msw' })
      assert.deepEqual(await (await fetch('http://a.test/', { dispatcher: agent })).json(), { from: 'ours' })
    },
  },
}
