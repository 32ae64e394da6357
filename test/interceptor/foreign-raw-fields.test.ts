// A controller of another library may keep the fields of a response as an object, as undici's does over HTTP/2, or as
// text. What reads them takes each form.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Dispatcher, Dispatcher1Wrapper, interceptors } from '../../src/index.ts'

const FORMS = {
  'an object': { 'x-a': ['1', '2'], 'content-encoding': 'gzip' },
  'a list of strings': ['x-a', '1', 'x-a', '2', 'content-encoding', 'gzip'],
  'a list of Buffers': ['x-a', '1', 'x-a', '2', 'content-encoding', 'gzip'].map((text) => Buffer.from(text)),
}

/** Answers like a dispatcher of undici. */
class Foreign extends Dispatcher {
  readonly rawHeaders: NonNullable<Dispatcher.DispatchController['rawHeaders']>

  constructor(rawHeaders: NonNullable<Dispatcher.DispatchController['rawHeaders']>) {
    super()
    this.rawHeaders = rawHeaders
  }

  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const controller: Dispatcher.DispatchController = {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: this.rawHeaders,
      rawTrailers: { 'x-t': '3' },
      abort() {},
      pause() {},
      resume() {},
    }
    queueMicrotask(() => {
      handler.onRequestStart?.(controller, null)
      handler.onResponseStart?.(controller, 200, { 'x-a': ['1', '2'], 'content-encoding': 'gzip' }, 'OK')
      handler.onResponseData?.(controller, gzipSync('hello'))
      handler.onResponseEnd?.(controller, { 'x-t': '3' })
    })
    return true
  }
}

const GET = { origin: 'http://localhost', path: '/', method: 'GET' } as const

describe('raw fields of another library', () => {
  for (const [form, rawHeaders] of Object.entries(FORMS)) {
    test(`${form}, through deduplicate`, async () => {
      const dispatcher = new Foreign(rawHeaders).compose(interceptors.deduplicate())
      const { headers, body } = await dispatcher.request({ ...GET, responseHeaders: 'raw' })
      await body.dump()
      assert.deepEqual(headers, ['x-a', '1', 'x-a', '2', 'content-encoding', 'gzip'])
    })

    test(`${form}, through decompress`, async () => {
      const dispatcher = new Foreign(rawHeaders).compose(interceptors.decompress())
      const { headers, body } = await dispatcher.request({ ...GET, responseHeaders: 'raw' })
      assert.equal(await body.text(), 'hello')
      assert.deepEqual(headers, ['x-a', '1', 'x-a', '2'])
    })

    test(`${form}, for a handler of the older generation`, async () => {
      const seen: string[] = []
      await new Promise<void>((resolve, reject) => {
        new Dispatcher1Wrapper(new Foreign(rawHeaders)).dispatch(GET, {
          onConnect() {},
          onHeaders(_status: number, raw: Buffer[]) {
            seen.push(...raw.map(String))
            return true
          },
          onData: () => true,
          onComplete(raw: Buffer[]) {
            seen.push(...raw.map(String))
            resolve()
          },
          onError: reject,
        })
      })
      assert.deepEqual(seen, ['x-a', '1', 'x-a', '2', 'content-encoding', 'gzip', 'x-t', '3'])
    })
  }
})
