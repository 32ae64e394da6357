import assert from 'node:assert/strict'
import http from 'node:http'
import { Agent } from '#library'
import { failure, text } from '../support.mjs'

const [major, minor] = process.versions.node.split('.').map(Number)
const supported = major >= 24 || (major === 22 && minor >= 22)

/** Loads a page and waits until it sets `window.done`. */
async function open(t, url, options = {}) {
  const { JSDOM, VirtualConsole } = await import('jsdom')
  const virtualConsole = new VirtualConsole()
  const dom = await JSDOM.fromURL(url, {
    runScripts: 'dangerously',
    resources: 'usable',
    virtualConsole,
    beforeParse(window) {
      window.finished = new Promise((resolve) => {
        window.done = resolve
      })
    },
    ...options,
  })
  t.after(() => dom.window.close())
  return dom
}

const html = (response, body) => response.setHeader('content-type', 'text/html; charset=utf-8').end(body)

export default {
  package: 'jsdom',
  about: 'pages with cookies, scripts, XMLHttpRequest and WebSocket',
  skip: supported ? undefined : 'needs Node 22.22',
  checks: {
    'loads a page': async (t) => {
      const at = await t.serve((_, response) => html(response, '<title>hello</title>'))
      const { window } = await open(t, at)
      assert.equal(window.document.title, 'hello')
    },
    'loads scripts and styles': async (t) => {
      const at = await t.serve((request, response) => {
        if (request.url === '/a.js') response.setHeader('content-type', 'text/javascript').end('window.a = 1')
        else if (request.url === '/b.css')
          response.setHeader('content-type', 'text/css').end('p { color: red }')
        else
          html(
            response,
            '<link rel=stylesheet href=/b.css><script src=/a.js></script><p>x<script>onload = () => done(a)</script>',
          )
      })
      const { window } = await open(t, at)
      assert.equal(await window.finished, 1)
      assert.equal(window.document.styleSheets.length, 1)
    },
    'keeps cookies': async (t) => {
      const at = await t.serve((request, response) => {
        if (request.url === '/') {
          response.setHeader('set-cookie', ['a=1', 'b=2; HttpOnly'])
          html(response, '<script src=/c.js></script>')
        } else {
          response
            .setHeader('content-type', 'text/javascript')
            .end(`done(${JSON.stringify(request.headers.cookie)})`)
        }
      })
      const { window, cookieJar } = await open(t, at)
      assert.equal(await window.finished, 'a=1; b=2')
      assert.equal(window.document.cookie, 'a=1')
      assert.equal((await cookieJar.getCookies(at)).length, 2)
    },
    'follows a redirect with its cookie': async (t) => {
      const at = await t.serve((request, response) => {
        if (request.url === '/') response.writeHead(302, { location: '/to', 'set-cookie': 'r=1' }).end()
        else html(response, `<title>${request.headers.cookie}</title>`)
      })
      const { window } = await open(t, at)
      assert.equal(window.document.title, 'r=1')
      assert.equal(window.location.pathname, '/to')
    },
    'asks with XMLHttpRequest': async (t) => {
      const at = await t.serve(async (request, response) => {
        if (request.url === '/') {
          html(
            response,
            `<script>
              const xhr = new XMLHttpRequest()
              xhr.open('POST', '/x')
              xhr.setRequestHeader('x-a', 'b')
              xhr.onload = () => done([xhr.status, xhr.getResponseHeader('x-c'), xhr.responseText].join())
              xhr.send('sent')
            </script>`,
          )
        } else {
          response.writeHead(201, { 'x-c': request.headers['x-a'] }).end(await text(request))
        }
      })
      assert.equal(await (await open(t, at)).window.finished, '201,b,sent')
    },
    'asks another origin only if allowed': async (t) => {
      const other = await t.serve((request, response) => {
        const allow = request.url === '/open' ? { 'access-control-allow-origin': '*' } : {}
        response.writeHead(200, allow).end('other')
      })
      const at = await t.serve((_, response) => {
        html(
          response,
          `<script>
            const ask = (path) => new Promise((resolve) => {
              const xhr = new XMLHttpRequest()
              xhr.open('GET', '${other}' + path)
              xhr.onload = () => resolve(xhr.responseText)
              xhr.onerror = () => resolve('refused')
              xhr.send()
            })
            Promise.all([ask('/open'), ask('/closed')]).then((all) => done(all.join()))
          </script>`,
        )
      })
      assert.equal(await (await open(t, at)).window.finished, 'other,refused')
    },
    'opens a WebSocket with its cookies': async (t) => {
      const { WebSocketServer } = await import('ws')
      const server = http.createServer((_, response) => {
        response.setHeader('set-cookie', 'a=1')
        html(
          response,
          `<script>
            const socket = new WebSocket(location.origin.replace('http', 'ws') + '/ws', 'chat')
            socket.onopen = () => socket.send('hello')
            socket.onmessage = ({ data }) => { got = data; socket.close(1000, 'bye') }
            socket.onclose = ({ code }) => done([got, socket.protocol, code].join())
            socket.onerror = () => done('error')
          </script>`,
        )
      })
      const sockets = new WebSocketServer({ server })
      sockets.on('connection', (socket, request) => {
        socket.on('message', (data) => socket.send(`${data} ${request.headers.cookie}`))
      })
      const at = await t.listen(server)
      assert.equal(await (await open(t, at)).window.finished, 'hello a=1,chat,1000')
    },
    'takes a dispatcher': async (t) => {
      const seen = []
      const note = (dispatch) => (options, handler) => {
        seen.push(options.path)
        return dispatch(options, handler)
      }
      const dispatcher = new Agent().compose(note)
      t.after(() => dispatcher.destroy())
      const at = await t.serve((_, response) => html(response, '<title>x</title>'))
      await open(t, `${at}/page`, { resources: { dispatcher } })
      assert.deepEqual(seen, ['/page'])
    },
    'intercepts requests': async (t) => {
      const { requestInterceptor } = await import('jsdom')
      const at = await t.serve((_, response) => html(response, '<script src=/a.js></script>'))
      const interceptor = requestInterceptor((request) => {
        if (request.url.endsWith('/a.js')) {
          return new Response('done("replaced")', { headers: { 'content-type': 'text/javascript' } })
        }
      })
      const dom = await open(t, at, { resources: { interceptors: [interceptor] } })
      assert.equal(await dom.window.finished, 'replaced')
    },
    'loads a compressed page in another charset': async (t) => {
      const { gzipSync } = await import('node:zlib')
      const at = await t.serve((_, response) => {
        response.writeHead(200, {
          'content-type': 'text/html; charset=iso-8859-1',
          'content-encoding': 'gzip',
        })
        response.end(gzipSync(Buffer.from('<title>café</title>', 'latin1')))
      })
      assert.equal((await open(t, at)).window.document.title, 'café')
    },
    'fails where nothing listens': async (t) => {
      const error = await failure(open(t, await t.nowhere()))
      assert.match(`${error.code} ${error.message} ${error.cause?.code}`, /ECONNREFUSED/)
    },
  },
}
