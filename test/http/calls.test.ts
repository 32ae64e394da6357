import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { errors } from '../../src/index.ts'
import { type Echo, failure } from '../support/exchange.ts'
import { overEachWire } from '../support/wire.ts'
import { jsonOf, setStage } from './stage.ts'

overEachWire('a call', (wire) => {
  test('gets JSON', async (t) => {
    const { api } = await setStage(t, wire)
    const { method, url } = await api.get('users/1').json<Echo>()
    assert.deepEqual([method, url], ['GET', '/v1/users/1'])
  })

  test('sends JSON', async (t) => {
    const { api } = await setStage(t, wire)
    const { method, headers, body } = await api.post('users', { json: { name: 'é' } }).json<Echo>()
    assert.deepEqual([method, headers['content-type']], ['POST', 'application/json'])
    assert.deepEqual(JSON.parse(Buffer.from(body, 'latin1').toString()), { name: 'é' })
  })

  test('sends a form', async (t) => {
    const { api } = await setStage(t, wire)
    const { headers, body } = await api
      .put('form', { form: { a: 'x y&', b: ['1', 2], c: undefined } })
      .json<Echo>()
    assert.equal(headers['content-type'], 'application/x-www-form-urlencoded;charset=UTF-8')
    assert.equal(body, 'a=x+y%26&b=1&b=2')
  })

  test('sends a multipart body', async (t) => {
    const { api } = await setStage(t, wire)
    const file = new File(['content'], 'a.txt', { type: 'text/plain' })
    const { headers, body } = await api.post('files', { multipart: { title: 'x', file } }).json<Echo>()
    assert.match(String(headers['content-type']), /^multipart\/form-data; boundary=/)
    assert.match(body, /name="title"\r\n\r\nx\r\n/)
    assert.match(body, /filename="a\.txt"\r\nContent-Type: text\/plain\r\n\r\ncontent\r\n/)
  })

  test('sends a stream', async (t) => {
    const { api } = await setStage(t, wire)
    assert.equal((await api.patch('x', { body: Readable.from(['a', 'b']) }).json<Echo>()).body, 'ab')
  })

  test('gets text, bytes, a stream or the response', async (t) => {
    const { api, url } = await setStage(t, wire, (_request, response) => {
      response.setHeader('x-a', 'b')
      response.end('héllo')
    })
    assert.equal(await api.get('x').text(), 'héllo')
    assert.deepEqual(await api.get('x').bytes(), new Uint8Array(Buffer.from('héllo')))
    const chunks = await (await api.get('x').stream()).toArray()
    assert.equal(Buffer.concat(chunks).toString(), 'héllo')
    const response = await api.get('x').response()
    assert.deepEqual([response.statusCode, response.headers['x-a'], response.url], [200, 'b', `${url}/v1/x`])
    assert.equal(await response.text(), 'héllo')
    assert.equal(await (await api.get('x')).text(), 'héllo')
  })

  test('follows redirects and decodes what they lead to', async (t) => {
    const { api, seen, url } = await setStage(t, wire, (request, response) => {
      request.resume()
      const isLast = request.url!.endsWith('/there')
      response.writeHead(
        isLast ? 200 : 302,
        isLast ? { 'content-encoding': 'gzip' } : { location: '/v1/there' },
      )
      response.end(isLast ? gzipSync('"found"') : '')
    })
    assert.equal(await api.get('here').json(), 'found')
    assert.equal(await api.post('here', { json: 1 }).json(), 'found')
    const response = await api.get('here')
    assert.deepEqual([response.url, await response.json()], [`${url}/v1/there`, 'found'])
    assert.deepEqual(seen.slice(0, 4), ['GET /v1/here', 'GET /v1/there', 'POST /v1/here', 'GET /v1/there'])
  })

  test('reports the progress of both bodies', async (t) => {
    const { api } = await setStage(t, wire, (request, response) => {
      request.resume().on('end', () => {
        response.setHeader('content-length', 100_000)
        response.end(Buffer.alloc(100_000))
      })
    })
    const up: number[] = []
    const down: number[] = []
    const totals = new Set<number | null>()
    const onProgress =
      (list: number[]) =>
      ({ transferred, total }: { transferred: number; total: number | null }) => {
        list.push(transferred)
        totals.add(total)
      }
    const options = { onUploadProgress: onProgress(up), onDownloadProgress: onProgress(down) }
    await api.post('x', { body: Buffer.alloc(70_000), ...options }).bytes()
    assert.deepEqual([up.at(-1), down.at(-1)], [70_000, 100_000])
    assert.deepEqual([...totals], [70_000, 100_000])
    assert.deepEqual(
      down,
      [...down].sort((a, b) => a - b),
    )
  })

  test('fails with what a progress function throws or rejects with', async (t) => {
    const { api } = await setStage(t, wire)
    const reason = new Error('no')
    const fail = () => {
      throw reason
    }
    assert.equal(await failure(api.post('x', { json: 1, onUploadProgress: fail }).json()), reason)
    assert.equal(await failure(api.get('x', { onDownloadProgress: fail }).json()), reason)
    const reject = async () => fail()
    assert.equal(await failure(api.post('x', { json: 1, onUploadProgress: reject }).json()), reason)
  })

  test('fails with a body that breaks off', async (t) => {
    const { api } = await setStage(t, wire, (_request, response) => {
      response.setHeader('content-length', 10)
      response.write('{"a"', () => response.destroy())
    })
    assert.ok((await failure(api.get('x').json())) instanceof Error)
    assert.ok((await failure(api.get('x').then((response) => response.json()))) instanceof Error)
  })

  test('that nobody asks for anything is made, and fails without a word', async (t) => {
    let onEvent = (): void => {}
    const arrived = new Promise<void>((resolve) => {
      onEvent = resolve
    })
    const { api } = await setStage(t, wire, (request, response) => {
      if (request.method === 'POST') onEvent()
      jsonOf(null, 500)(request, response)
    })
    api.post('event', { json: 1 })
    await failure(api.get('x').text())
    await arrived
  })
})

describe('the body of a call', () => {
  test('is read once', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf(1))
    const call = api.get('x')
    assert.equal(await call.json(), 1)
    assert.match((await failure(call.json())).message, /read already/)
    assert.match((await failure(call.text())).message, /read already/)
    assert.match((await failure(call.response())).message, /read already/)
    const other = api.get('x')
    const response = await other
    assert.equal(await response.json(), 1)
    assert.ok((await failure(response.text())) instanceof TypeError)
    assert.equal(await other.response(), response)
  })

  test('may be asked for when it has come', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf({ a: 1 }))
    const [first, second] = [api.get('x'), api.get('x')]
    await api.get('x').json()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([await first.json(), await second.text()], [{ a: 1 }, '{"a":1}'])
  })

  test('is undefined where there is none', async (t) => {
    const { api } = await setStage(t, undefined, (_request, response) => response.writeHead(204).end())
    assert.equal(await api.delete('x').json(), undefined)
    assert.equal(await api.head('x').json(), undefined)
    assert.equal(await (await api.get('x')).json(), undefined)
    assert.equal(await api.get('x').text(), '')
  })

  test('begins anew for each attempt where a function makes it', async (t) => {
    let count = 0
    const { api } = await setStage(t, undefined, (request, response) => {
      request.resume().on('end', () => response.writeHead(count++ === 0 ? 503 : 200).end('1'))
    })
    let made = 0
    const body = () => Readable.from([`${++made}`])
    const retry = { maxRetries: 1, minTimeout: 0 }
    assert.equal(await api.put('x', { body, retry }).json(), 1)
    assert.equal(made, 2)
    assert.equal(await api.put('x', { body }).json(), 1)
    assert.equal(made, 3)
  })
})

describe('the signal of a call', () => {
  test('that is aborted already sends nothing', async (t) => {
    const { api, seen } = await setStage(t)
    const reason = new Error('no')
    assert.equal(await failure(api.get('x', { signal: AbortSignal.abort(reason) }).json()), reason)
    assert.deepEqual(seen, [])
  })

  test('ends the request and the body', async (t) => {
    const { api } = await setStage(t, undefined, (request, response) => {
      if (request.url!.endsWith('head')) return
      response.write('a')
    })
    for (const path of ['head', 'body']) {
      const controller = new AbortController()
      const call = api.get(path, { signal: controller.signal })
      const response = path === 'body' ? await call : null
      const failed = failure(response === null ? call.json() : response.text())
      controller.abort()
      assert.equal((await failed).name, 'AbortError')
    }
  })

  test('after the end has no effect', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf(1))
    const controller = new AbortController()
    const value = await api.get('x', { signal: controller.signal }).json()
    controller.abort()
    assert.equal(value, 1)
  })
})

describe('close()', () => {
  test('waits for calls that run and refuses others', async (t) => {
    let answer = () => {}
    const { api, server } = await setStage(t, undefined, (_request, response) => {
      answer = () => response.end('1')
    })
    const arrived = once(server, 'request')
    const value = api.get('x').json()
    await arrived
    let isClosed = false
    const closed = api.close().then(() => {
      isClosed = true
    })
    assert.throws(() => api.get('x'), errors.ClientClosedError)
    assert.equal(isClosed, false)
    answer()
    assert.equal(await value, 1)
    await closed
  })

  test('does not close the parent', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf(1))
    await api.extend({}).close()
    assert.equal(await api.get('x').json(), 1)
  })
})
