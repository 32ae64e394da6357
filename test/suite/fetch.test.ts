/** Our fetch, and the runtime's, with one of our dispatchers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Dispatcher, fetch as ownFetch } from '../../src/index.ts'
import { deferred, echo, failure } from '../support/exchange.ts'
import { loadOf, overEachWay, startOrigin, type Way } from '../support/wire.ts'

/** The option is missing from the platform's types. */
function through(dispatcher: Dispatcher, init: RequestInit = {}): RequestInit {
  return { ...init, dispatcher } as unknown as RequestInit
}

overEachWay('fetch', (way) => behavesOver(way, ownFetch as unknown as typeof globalThis.fetch))

// Other runtimes have a fetch that knows no dispatchers.
if (
  process.release.name === 'node' &&
  process.versions['bun'] === undefined &&
  process.versions['deno'] === undefined
) {
  overEachWay('globalThis.fetch', (way) => behavesOver(way, globalThis.fetch))
}

function behavesOver(way: Way, fetch: typeof globalThis.fetch): void {
  test('GET', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    const response = await fetch(`${origin.url}/path?query`, through(client, { headers: { 'x-a': '1' } }))
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'application/json')
    const received = (await response.json()) as {
      method: string
      url: string
      headers: Record<string, string>
    }
    assert.equal(received.method, 'GET')
    assert.equal(received.url, '/path?query')
    assert.equal(received.headers['x-a'], '1')
    // It went only through our dispatcher.
    assert.equal(origin.sockets.length, 1)
    assert.equal(loadOf(client).connected, 1)
  })

  test('POST with a body of known and of unknown length', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    const known = await fetch(origin.url, through(client, { method: 'POST', body: 'grün' }))
    const first = (await known.json()) as { body: string; headers: Record<string, string> }
    assert.equal(Buffer.from(first.body, 'latin1').toString(), 'grün')
    assert.equal(first.headers['content-length'], '5')
    assert.equal(first.headers['transfer-encoding'], undefined)

    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array([65, 66]))
        controller.close()
      },
    })
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    const streamed = await fetch(origin.url, through(client, init))
    assert.equal(((await streamed.json()) as { body: string }).body, 'AB')

    const form = new FormData()
    form.append('a', 'b')
    const posted = await fetch(origin.url, through(client, { method: 'POST', body: form }))
    assert.match(((await posted.json()) as { body: string }).body, /name="a"\r\n\r\nb\r\n/)
  })

  test('a streamed response arrives piece by piece', async (t) => {
    const next = deferred()
    const origin = await startOrigin(t, way, async (_request, response) => {
      response.write('one')
      await next.promise
      response.end('two')
    })
    const response = await fetch(origin.url, through(origin.dispatcher()))
    const reader = response.body!.getReader()
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'one')
    next.resolve()
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'two')
    assert.equal((await reader.read()).done, true)
  })

  test('a compressed response is decoded', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync('plain'))
    })
    const response = await fetch(origin.url, through(origin.dispatcher()))
    assert.equal(await response.text(), 'plain')
  })

  test('a large response with backpressure', async (t) => {
    const size = 4 * 1024 * 1024
    const origin = await startOrigin(t, way, (_request, response) => response.end(Buffer.alloc(size)))
    const response = await fetch(origin.url, through(origin.dispatcher()))
    assert.equal((await response.arrayBuffer()).byteLength, size)
  })

  test('aborted before the head, during the body, and beforehand', async (t) => {
    const arrived = deferred()
    const origin = await startOrigin(t, way, (request, response) => {
      if (request.url === '/body') response.write('x')
      else arrived.resolve()
    })
    const client = origin.dispatcher()
    const first = new AbortController()
    const waiting = failure(fetch(origin.url, through(client, { signal: first.signal })))
    await arrived.promise
    first.abort()
    assert.equal((await waiting).name, 'AbortError')

    const second = new AbortController()
    const response = await fetch(`${origin.url}/body`, through(client, { signal: second.signal }))
    const reader = response.body!.getReader()
    await reader.read()
    const rest = failure(reader.read())
    second.abort()
    assert.equal((await rest).name, 'AbortError')

    const before = failure(fetch(origin.url, through(client, { signal: AbortSignal.abort() })))
    assert.equal((await before).name, 'AbortError')
  })

  test('HEAD, an empty response, and redirects followed by fetch', async (t) => {
    const origin = await startOrigin(t, way, (request, response) => {
      if (request.url === '/from') response.writeHead(302, { location: '/to' })
      else if (request.url === '/none') response.statusCode = 204
      response.end(request.url === '/to' ? 'here' : '')
    })
    const client = origin.dispatcher()
    assert.equal((await fetch(origin.url, through(client, { method: 'HEAD' }))).status, 200)
    assert.equal((await fetch(`${origin.url}/none`, through(client))).status, 204)
    const followed = await fetch(`${origin.url}/from`, through(client))
    assert.equal(followed.redirected, true)
    assert.equal(await followed.text(), 'here')
  })

  test('a failure is the cause of its TypeError', async (t) => {
    const origin = await startOrigin(t, way, () => {
      for (const socket of origin.sockets) socket.destroy()
    })
    const error = await failure(fetch(origin.url, through(origin.dispatcher(), { method: 'POST' })))
    assert.equal(error.name, 'TypeError')
    assert.match(String((error.cause as Error).message), /^(other side closed|read ECONNRESET)/)
  })
}
