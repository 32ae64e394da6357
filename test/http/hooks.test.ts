import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HttpResponseHead } from '../../src/index.ts'
import { type Echo, failure } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { overEachWire } from '../support/wire.ts'
import { jsonOf, setStage } from './stage.ts'

overEachWire('hooks', (wire) => {
  test('see the request before it is sent, and change it', async (t) => {
    const { api, url } = await setStage(t, wire)
    const beforeRequest = async ({
      method,
      url: target,
      headers,
      body,
    }: {
      method: string
      url: URL
      headers: Record<string, unknown>
      body: unknown
    }) => {
      headers['x-signature'] = `${method} ${target.pathname} ${body}`
      delete headers['x-a']
      target.searchParams.set('signed', '1')
    }
    const call = api.post('x', { json: 1, headers: { 'x-a': '1' }, hooks: { beforeRequest } })
    const echo = await call.json<Echo>()
    assert.deepEqual([echo.headers['x-signature'], echo.headers['x-a']], ['POST /v1/x 1', undefined])
    assert.equal(echo.url, '/v1/x?signed=1')
    assert.ok(url)
  })

  test('see the head of each response', async (t) => {
    const heads: string[] = []
    const hooks = {
      afterResponse: ({ statusCode, url, duration }: HttpResponseHead, { method }: { method: string }) => {
        assert.ok(duration >= 0)
        heads.push(`${method} ${new URL(url).pathname} ${statusCode}`)
      },
    }
    const { api } = await setStage(
      t,
      wire,
      (request, response) => {
        request.resume()
        const missing = request.url!.endsWith('missing')
        response.writeHead(missing ? 404 : request.url!.endsWith('moved') ? 307 : 200, { location: '/v1/x' })
        response.end('1')
      },
      { hooks },
    )
    await api.get('moved').json()
    await failure(api.put('missing').json())
    assert.deepEqual(heads, ['GET /v1/x 200', 'PUT /v1/missing 404'])
  })
})

describe('a hook', () => {
  test('that throws or rejects fails the call, and nothing is sent', async (t) => {
    const { api, seen } = await setStage(t)
    const reason = new Error('no')
    for (const beforeRequest of [
      () => {
        throw reason
      },
      () => Promise.reject(reason),
    ]) {
      assert.equal(await failure(api.get('x', { hooks: { beforeRequest } }).json()), reason)
    }
    assert.deepEqual(seen, [])
  })

  test('that throws after the head fails the call, whatever the response', async (t) => {
    const { api } = await setStage(t, undefined, (request, response) => {
      response.writeHead(request.url!.endsWith('bad') ? 500 : 200)
      response.end('1')
    })
    const reason = new Error('no')
    for (const afterResponse of [
      () => {
        throw reason
      },
      () => Promise.reject(reason),
    ]) {
      for (const path of ['good', 'bad']) {
        assert.equal(await failure(api.get(path, { hooks: { afterResponse } }).json()), reason)
        assert.equal(await failure(api.get(path, { hooks: { afterResponse } }).response()), reason)
      }
    }
    assert.equal(await api.get('good').json(), 1)
  })

  test('is waited for', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf(1))
    for (const form of ['json', 'response'] as const) {
      let finished = 0
      const hook = async () => {
        await new Promise((resolve) => setImmediate(resolve))
        finished++
      }
      await api.get('x', { hooks: { beforeRequest: hook, afterResponse: hook } })[form]()
      assert.equal(finished, 2)
    }
  })

  test('that ends after the call has failed does not bring its response back', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf(1))
    const reason = new Error('no')
    for (const form of ['json', 'response'] as const) {
      const controller = new AbortController()
      let end = (): void => {}
      const afterResponse = () =>
        new Promise<void>((resolve) => {
          end = resolve
          controller.abort(reason)
        })
      const call = api.get('x', { signal: controller.signal, hooks: { afterResponse } })
      await eventually(() => controller.signal.aborted)
      end()
      await turns(2)
      assert.equal(await failure(call[form]()), reason)
    }
  })

  test('that never settles does not outlive the signal', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf(1))
    const never = () => new Promise<void>(() => {})
    for (const hooks of [{ beforeRequest: never }, { afterResponse: never }]) {
      for (const form of ['json', 'response'] as const) {
        const controller = new AbortController()
        const called = new Promise<void>((resolve) => {
          const [[name, hook]] = Object.entries(hooks) as [[string, () => Promise<void>]]
          const failed = api
            .get('x', {
              signal: controller.signal,
              hooks: {
                [name]: () => {
                  resolve()
                  return hook()
                },
              },
            })
            [form]()
          failed.catch(() => {})
          ended = failure(failed)
        })
        await called
        await new Promise((resolve) => setImmediate(resolve))
        controller.abort()
        assert.equal((await ended).name, 'AbortError')
      }
    }
  })

  test('must not send the request elsewhere', async (t) => {
    const { api, seen } = await setStage(t)
    const beforeRequest = ({ url }: { url: URL }) => {
      url.host = 'elsewhere.example'
    }
    const error = await failure(api.get('x', { hooks: { beforeRequest } }).json())
    assert.match(error.message, /a hook must not change the origin/)
    assert.deepEqual(seen, [])
  })
})

let ended: Promise<Error>
