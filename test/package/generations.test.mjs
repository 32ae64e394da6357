// The generations of undici that are about, beside this library in one process: our `fetch` on their dispatchers, their
// `fetch` on ours, and their `Request` in our `fetch`.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { after, before, describe, test } from 'node:test'
import { Agent, fetch } from '../../dist/index.js'

/** Bytes that no buffer on the way holds. */
const LARGE = 8_000_000

const GENERATIONS = { 6: 'undici6', 7: 'undici7', 8: 'undici' }

const server = http.createServer((request, response) => {
  if (request.url === '/large') {
    response.end(Buffer.alloc(LARGE, 'x'))
  } else if (request.url === '/silent') {
    request.resume()
  } else if (request.url === '/redirect') {
    request.resume()
    response.writeHead(307, { location: '/echo' }).end()
  } else {
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.setHeader('x-method', request.method)
    request.pipe(response)
  }
})
let origin = ''

before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${server.address().port}`
})
after(() => server.close())

for (const [generation, name] of Object.entries(GENERATIONS)) {
  const major = Number(process.versions.node.split('.')[0])
  const skip = generation === '8' && major < 22 ? 'undici 8 needs Node 22' : false
  describe(`undici ${generation}`, { skip }, () => {
    let theirs
    before(async () => {
      theirs = (await import(name)).default
    })

    /** A dispatcher of theirs, closed at the end of the test. */
    const use = (t, dispatcher) => {
      t.after(() => dispatcher.destroy())
      return dispatcher
    }

    for (const [kind, make] of Object.entries({
      Agent: () => new theirs.Agent(),
      Pool: () => new theirs.Pool(origin),
      Client: () => new theirs.Client(origin),
      RetryAgent: () => new theirs.RetryAgent(new theirs.Agent()),
    })) {
      test(`our fetch on their ${kind}`, async (t) => {
        const dispatcher = use(t, make())
        const get = await fetch(`${origin}/echo`, { dispatcher })
        assert.deepEqual([get.status, get.headers.get('x-method'), await get.text()], [200, 'GET', ''])
        assert.deepEqual(get.headers.getSetCookie(), ['a=1', 'b=2'])
        async function* pieces() {
          yield 'in '
          yield new Uint8Array(Buffer.from('pieces'))
        }
        const form = new FormData()
        form.append('name', 'value')
        for (const [body, expected] of [
          ['text', /^text$/],
          [new Uint8Array([97, 98]), /^ab$/],
          [new Blob(['blob']), /^blob$/],
          [pieces(), /^in pieces$/],
          [form, /name="name"\r\n\r\nvalue\r\n/],
        ]) {
          const sent = await fetch(`${origin}/echo`, { method: 'POST', body, duplex: 'half', dispatcher })
          assert.match(await sent.text(), expected)
        }
        const followed = await fetch(`${origin}/redirect`, { method: 'POST', body: 'text', dispatcher })
        assert.deepEqual([followed.redirected, await followed.text()], [true, 'text'])
        const large = await fetch(`${origin}/large`, { dispatcher })
        await new Promise(setImmediate)
        let read = 0
        for await (const chunk of large.body) read += chunk.length
        assert.equal(read, LARGE)
        const whole = await fetch(`${origin}/large`, { dispatcher })
        assert.equal((await whole.bytes()).length, LARGE)
      })
    }

    test('aborts and failures on their Agent', async (t) => {
      const dispatcher = use(t, new theirs.Agent())
      const aborter = new AbortController()
      const silent = fetch(`${origin}/silent`, { dispatcher, signal: aborter.signal })
      const seen = once(server, 'request')
      await seen
      aborter.abort('enough')
      await assert.rejects(silent, (reason) => reason === 'enough')
      const large = await fetch(`${origin}/large`, { dispatcher })
      await large.body.cancel()
      const half = new AbortController()
      const cut = await fetch(`${origin}/large`, { dispatcher, signal: half.signal })
      half.abort('half')
      await assert.rejects(cut.text(), (reason) => reason === 'half')
      const failing = fetch(origin, { dispatcher: new theirs.Agent({ connect: fail }) })
      await assert.rejects(
        failing,
        ({ message, cause }) => message === 'fetch failed' && cause.code === 'EFAILED',
      )
    })

    test('their fetch on our Agent', async (t) => {
      const dispatcher = use(t, new Agent())
      const response = await theirs.fetch(`${origin}/echo`, { method: 'POST', body: 'text', dispatcher })
      assert.deepEqual([response.headers.get('x-method'), await response.text()], ['POST', 'text'])
      const large = await theirs.fetch(`${origin}/large`, { dispatcher })
      assert.equal((await large.arrayBuffer()).byteLength, LARGE)
    })

    test('their Request in our fetch', async (t) => {
      const dispatcher = use(t, new Agent())
      const request = new theirs.Request(`${origin}/echo`, {
        method: 'POST',
        body: 'text',
        headers: { a: 'b' },
      })
      const response = await fetch(request, { dispatcher })
      assert.deepEqual([response.headers.get('x-method'), await response.text()], ['POST', 'text'])
    })
  })
}

function fail(_options, callback) {
  callback(Object.assign(new Error('no way'), { code: 'EFAILED' }), null)
}
