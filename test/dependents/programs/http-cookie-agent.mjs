import assert from 'node:assert/strict'
import { CookieJar } from 'tough-cookie'
import { Agent, Client, fetch, request, WebSocket } from 'undici'
import { WebSocketServer } from 'ws'
import { CookieAgent, cookie } from '#http-cookie-agent/undici'

/** Sets a cookie for each path, and answers with those it got. */
const origin = (t) =>
  t.serve((incoming, response) => {
    const name = incoming.url.slice(1)
    if (name === 'redirect') response.writeHead(302, { location: '/seen', 'set-cookie': 'r=1' }).end()
    else {
      if (name !== 'seen') response.setHeader('set-cookie', [`${name}=1; Path=/`, `${name}2=2; HttpOnly`])
      response.end(incoming.headers.cookie ?? '')
    }
  })

const body = async (answer) => (await answer).body.text()

export default {
  package: 'http-cookie-agent',
  about: 'a cookie jar for `request`, `fetch` and WebSocket',
  checks: {
    'keeps cookies of request()': async (t) => {
      const at = await origin(t)
      const dispatcher = new CookieAgent({ cookies: { jar: new CookieJar() } })
      t.after(() => dispatcher.close())
      assert.equal(await body(request(`${at}/a`, { dispatcher })), '')
      assert.equal(await body(request(`${at}/seen`, { dispatcher })), 'a=1; a2=2')
    },
    'keeps cookies of fetch()': async (t) => {
      const at = await origin(t)
      const jar = new CookieJar()
      const dispatcher = new CookieAgent({ cookies: { jar } })
      t.after(() => dispatcher.close())
      await (await fetch(`${at}/a`, { dispatcher })).text()
      await (await fetch(`${at}/b`, { dispatcher })).text()
      assert.equal(await (await fetch(`${at}/seen`, { dispatcher })).text(), 'a=1; a2=2; b=1; b2=2')
      assert.equal((await jar.getCookies(at)).length, 4)
    },
    'keeps cookies of a redirect': async (t) => {
      const at = await origin(t)
      const dispatcher = new CookieAgent({ cookies: { jar: new CookieJar() } })
      t.after(() => dispatcher.close())
      assert.equal(await (await fetch(`${at}/redirect`, { dispatcher })).text(), 'r=1')
    },
    'adds to a cookie of the caller': async (t) => {
      const at = await origin(t)
      const jar = new CookieJar()
      await jar.setCookie('a=1', at)
      const dispatcher = new CookieAgent({ cookies: { jar } })
      t.after(() => dispatcher.close())
      assert.equal(await body(request(`${at}/seen`, { dispatcher, headers: { cookie: 'b=2' } })), 'a=1; b=2')
    },
    'composes with an Agent': async (t) => {
      const at = await origin(t)
      const dispatcher = new Agent({ pipelining: 2 }).compose(cookie({ jar: new CookieJar() }))
      t.after(() => dispatcher.close())
      await body(request(`${at}/a`, { dispatcher }))
      assert.equal(await body(request(`${at}/seen`, { dispatcher })), 'a=1; a2=2')
    },
    'composes with a Client': async (t) => {
      const at = await origin(t)
      const client = new Client(at).compose(cookie({ jar: new CookieJar() }))
      t.after(() => client.close())
      await body(client.request({ origin: at, path: '/a', method: 'GET' }))
      assert.equal(await body(client.request({ origin: at, path: '/seen', method: 'GET' })), 'a=1; a2=2')
    },
    'sends cookies with a WebSocket': async (t) => {
      const sockets = new WebSocketServer({ noServer: true })
      const server = (await import('node:http')).createServer()
      server.on('upgrade', (incoming, socket, head) => {
        sockets.handleUpgrade(incoming, socket, head, (each) => each.send(incoming.headers.cookie ?? 'none'))
      })
      const at = await t.listen(server)
      const jar = new CookieJar()
      await jar.setCookie('a=1', at)
      const dispatcher = new CookieAgent({ cookies: { jar } })
      t.after(() => dispatcher.destroy())
      const socket = new WebSocket(at.replace('http', 'ws'), { dispatcher })
      const data = await new Promise((resolve, reject) => {
        socket.onmessage = (event) => resolve(event.data)
        socket.onerror = (event) => reject(event.error)
      })
      socket.close()
      assert.equal(data, 'a=1')
    },
  },
}
