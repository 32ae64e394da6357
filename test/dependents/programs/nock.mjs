import assert from 'node:assert/strict'
import http from 'node:http'
import { fetch, install, MockAgent, request, setGlobalDispatcher } from '#library'
import nock from '#nock'
import { ca, failure, isNewest } from '../support.mjs'

const runtimeFetch = globalThis.fetch
const restore = (t) => {
  t.after(() => {
    nock.cleanAll()
    nock.restore()
    Object.assign(globalThis, { fetch: runtimeFetch })
  })
  if (!nock.isActive()) nock.activate()
}

/** From version 15 on it mocks sockets, and thereby every client. */
const mocksOurs = isNewest

export default {
  package: 'nock',
  about: mocksOurs
    ? 'mocks every request, `MockAgent` those of the library'
    : 'alongside: it mocks the fetch of the runtime, `MockAgent` that of the library',
  own: true,
  checks: {
    'mocks the fetch of the runtime, and ours if it mocks sockets': async (t) => {
      restore(t)
      const at = await t.serve((_, response) => response.end('real'))
      nock(at).get('/').reply(200, 'mocked')
      nock(at).get('/ours').reply(200, 'mocked', { 'x-a': 'b' })
      const ours = await fetch(`${at}/ours`)
      assert.equal(await ours.text(), mocksOurs ? 'mocked' : 'real')
      assert.equal(ours.headers.get('x-a'), mocksOurs ? 'b' : null)
      assert.equal(await (await globalThis.fetch(at)).text(), 'mocked')
    },
    'mocks request() with a body, if it mocks sockets': async (t) => {
      restore(t)
      const at = await t.serve((_, response) => response.end('real'))
      nock(at).post('/', 'sent').reply(201, 'mocked')
      const { statusCode, body } = await request(at, { method: 'POST', body: 'sent' })
      assert.deepEqual([statusCode, await body.text()], mocksOurs ? [201, 'mocked'] : [200, 'real'])
    },
    'mocks TLS, if it mocks sockets': async (t) => {
      restore(t)
      const at = await t.serveTls((_, response) => response.end('real'))
      nock(at).get('/').reply(200, 'mocked')
      const { Agent } = await import('#library')
      const dispatcher = new Agent({ connect: { ca } })
      t.after(() => dispatcher.close())
      const { body } = await request(at, { dispatcher })
      assert.equal(await body.text(), mocksOurs ? 'mocked' : 'real')
    },
    'forbids connections of the runtime, and ours if it mocks sockets': async (t) => {
      restore(t)
      const at = await t.serve((_, response) => response.end('real'))
      nock.disableNetConnect()
      t.after(() => nock.enableNetConnect())
      await failure(globalThis.fetch(at))
      if (mocksOurs) await failure(request(at))
      else assert.equal(await (await request(at)).body.text(), 'real')
    },
    'lets MockAgent mock ours at the same time': async (t) => {
      restore(t)
      const agent = new MockAgent()
      agent.disableNetConnect()
      t.after(() => agent.close())
      agent.get('http://a.test').intercept({ path: '/' }).reply(200, 'ours')
      nock('http://a.test').get('/').reply(200, 'theirs')
      assert.equal(await (await fetch('http://a.test/', { dispatcher: agent })).text(), 'ours')
      assert.equal(await (await globalThis.fetch('http://a.test/')).text(), 'theirs')
    },
    'mocks node:http beside a global dispatcher of ours': async (t) => {
      restore(t)
      const { Agent, getGlobalDispatcher } = await import('#library')
      const before = getGlobalDispatcher()
      const agent = new Agent()
      setGlobalDispatcher(agent)
      t.after(() => {
        setGlobalDispatcher(before)
        return agent.close()
      })
      nock('http://b.test').get('/').reply(200, 'theirs')
      const status = await new Promise((resolve, reject) => {
        http.get('http://b.test/', (response) => resolve(response.resume().statusCode)).on('error', reject)
      })
      assert.equal(status, 200)
    },
    'mocks nothing once install() made ours global': async (t) => {
      const globals = { ...pick('fetch', 'Headers', 'Request', 'Response', 'FormData', 'WebSocket') }
      t.after(() => Object.assign(globalThis, globals))
      const at = await t.serve((_, response) => response.end('real'))
      install()
      assert.equal(await (await globalThis.fetch(at)).text(), 'real')
    },
  },
}

function pick(...names) {
  return Object.fromEntries(names.map((name) => [name, globalThis[name]]))
}
