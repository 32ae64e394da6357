import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WebSocketError, type WebSocketErrorInit } from '../../src/index.ts'

describe('WebSocketError', () => {
  test('is a DOMException with a code and a reason', () => {
    const rows: [init: WebSocketErrorInit | null | undefined, closeCode: number | null, reason: string][] = [
      [undefined, null, ''],
      [null, null, ''],
      [{}, null, ''],
      [{ closeCode: 1000 }, 1000, ''],
      [{ closeCode: 3000, reason: 'bye' }, 3000, 'bye'],
      [{ closeCode: 4999 }, 4999, ''],
      [{ closeCode: '3000' as never }, 3000, ''],
      [{ closeCode: 1000.7 }, 1000, ''],
      [{ reason: 'alone' }, 1000, 'alone'],
      [{ reason: '' }, null, ''],
      [{ reason: 'x'.repeat(123) }, 1000, 'x'.repeat(123)],
    ]
    for (const [init, closeCode, reason] of rows) {
      const error = new WebSocketError('message', init)
      assert.ok(error instanceof WebSocketError && error instanceof DOMException && error instanceof Error)
      assert.deepEqual(
        [error.name, error.message, error.code, error.closeCode, error.reason],
        ['WebSocketError', 'message', 0, closeCode, reason],
      )
    }
    assert.equal(new WebSocketError().message, '')
    assert.equal(Object.prototype.toString.call(new WebSocketError()), '[object WebSocketError]')
    assert.ok(!(new DOMException('', 'WebSocketError') instanceof WebSocketError))
  })

  test('may have a cause', () => {
    const cause = new Error('why')
    assert.equal(new WebSocketError('', { cause }).cause, cause)
    assert.ok(!Object.hasOwn(new WebSocketError('', {}), 'cause'))
  })

  test('refuses what cannot be sent', () => {
    for (const closeCode of [0, 999, 1001, 1005, 1006, 2999, 5000, 65_535]) {
      assert.throws(() => new WebSocketError('', { closeCode }), {
        name: 'InvalidAccessError',
        message: 'invalid code',
      })
    }
    for (const closeCode of [70_000, -1, Number.NaN, Infinity, 'x' as never]) {
      assert.throws(() => new WebSocketError('', { closeCode }), { name: 'TypeError' })
    }
    for (const reason of ['x'.repeat(124), 'é'.repeat(62)]) {
      assert.throws(() => new WebSocketError('', { reason }), {
        name: 'SyntaxError',
        message: 'Reason must be less than 123 bytes; received 124',
      })
    }
    assert.throws(() => new WebSocketError('', 5 as never), { name: 'TypeError' })
  })
})
