import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HeaderBlock } from '../../src/protocol/header-block.ts'
import { RequestController, type Steerable } from '../../src/request/request-controller.ts'

class FakeRequest implements Steerable {
  readonly maxResponseSize = -1
  readonly httpVersion = null
  settled = false
  readonly timings = { queued: 1, connect: null, secured: null, sent: null, firstByte: null, end: null }
  readonly aborts: unknown[] = []
  resumed = 0

  abort(reason?: unknown): void {
    this.aborts.push(reason)
  }

  onResume(): void {
    this.resumed++
  }
}

describe('RequestController', () => {
  test('abort: the first call wins; undefined is remembered as given', () => {
    const request = new FakeRequest()
    const controller = new RequestController(request)
    assert.equal(controller.aborted, false)
    assert.equal(controller.reason, null)
    controller.abort()
    controller.abort('second')
    assert.deepEqual(request.aborts, [undefined])
    assert.equal(controller.aborted, true)
    assert.equal(controller.reason, undefined)
  })

  test('abort after the request has settled changes nothing here; the request knows whether an upload is left to stop', () => {
    const request = new FakeRequest()
    request.settled = true
    const controller = new RequestController(request)
    controller.abort('late')
    assert.equal(controller.aborted, false)
    assert.equal(controller.reason, null)
    assert.deepEqual(request.aborts, ['late'])
  })

  test('resume reaches the request only after a pause', () => {
    const request = new FakeRequest()
    const controller = new RequestController(request)
    controller.resume()
    assert.equal(request.resumed, 0)
    controller.pause()
    controller.pause()
    assert.equal(controller.paused, true)
    controller.resume()
    controller.resume()
    assert.equal(controller.paused, false)
    assert.equal(request.resumed, 1)
  })

  test('raw views follow the latest head, and can be replaced', () => {
    const controller = new RequestController(new FakeRequest())
    assert.deepEqual([controller.rawHeaders, controller.rawTrailers], [null, null])
    controller.acceptHead(new HeaderBlock(['A', '1']))
    assert.deepEqual(controller.rawHeaders, [Buffer.from('A'), Buffer.from('1')])
    assert.equal(controller.rawHeaders, controller.rawHeaders)
    controller.acceptHead(new HeaderBlock(['B', '\u00ff']))
    assert.deepEqual(controller.rawHeaders, [Buffer.from('B'), Buffer.from([0xff])])
    const own = [Buffer.from('x'), Buffer.from('y')]
    controller.rawHeaders = own
    assert.equal(controller.rawHeaders, own)
    controller.acceptTrailers(HeaderBlock.EMPTY)
    assert.deepEqual(controller.rawTrailers, [])
    controller.rawTrailers = null
    assert.equal(controller.rawTrailers, null)
  })

  test('timings are the request’s', () => {
    const request = new FakeRequest()
    assert.equal(new RequestController(request).timings, request.timings)
  })
})
