import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  HeadersTimeoutError,
  HTTPParserError,
  type RequestErrorContext,
  SocketError,
} from '../../src/errors.ts'
import { describeError } from '../../src/request/error-context.ts'

const context: RequestErrorContext = {
  method: 'GET',
  origin: 'http://a.test',
  path: '/b',
  phase: 'headers',
  reusedSocket: true,
  retrySafety: 'idempotent-only',
  timings: { queued: 1, connect: null, secured: null, sent: 2, firstByte: null, end: 3 },
  socket: { bytesWritten: 10, bytesRead: 20 },
}

function firstLine(error: Error): string {
  return error.stack!.split('\n', 1)[0]!
}

describe('describeError', () => {
  test('copies an error of the library: the original goes to others too', () => {
    const original = new SocketError('other side closed', null)
    const described = describeError(original, context) as SocketError
    assert.notEqual(described, original)
    assert.equal(described instanceof SocketError, true)
    assert.equal(described.name, 'SocketError')
    assert.equal(described.code, 'UND_ERR_SOCKET')
    assert.equal(described.retrySafety, 'idempotent-only')
    assert.equal(original.message, 'other side closed')
    assert.equal('retrySafety' in original, false)
  })

  test('says in words what happened, in the first line of the stack', () => {
    const error = describeError(new HeadersTimeoutError(), context)
    assert.equal(error.message, 'Headers Timeout Error')
    assert.equal(
      firstLine(error),
      'HeadersTimeoutError: Headers Timeout Error (GET http://a.test/b while waiting for the response head on a reused connection, 10 bytes sent and 20 received)',
    )
    const fresh = describeError(new HeadersTimeoutError(), { ...context, reusedSocket: false, socket: {} })
    assert.match(firstLine(fresh), /on a new connection, 0 bytes sent and 0 received\)$/)
    const alone = describeError(new HeadersTimeoutError(), { ...context, socket: null, phase: 'connecting' })
    assert.match(firstLine(alone), /\(GET http:\/\/a\.test\/b while connecting\)$/)
  })

  test('a target elsewhere is not written as a path of the origin', () => {
    const alone = { ...context, socket: null } as const
    const tunnel = describeError(new HeadersTimeoutError(), {
      ...alone,
      method: 'CONNECT',
      path: 'b.test:443',
    })
    assert.match(firstLine(tunnel), /\(CONNECT b\.test:443 through http:\/\/a\.test while waiting/)
    const proxied = describeError(new HeadersTimeoutError(), { ...alone, path: 'http://b.test/c' })
    assert.match(firstLine(proxied), /\(GET http:\/\/b\.test\/c through http:\/\/a\.test while waiting/)
  })

  test('an error of the runtime is used as it is, by the first request only', () => {
    const original = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const first: Error & Partial<RequestErrorContext> = describeError(original, context)
    assert.equal(first === original, true)
    const second = describeError(original, { ...context, path: '/c' }) as Error & RequestErrorContext
    assert.notEqual(second, original)
    assert.equal(second.path, '/c')
    assert.equal(first.path, '/b')
    assert.equal((second as NodeJS.ErrnoException).code, 'ECONNREFUSED')
    assert.equal(second.message, 'connect ECONNREFUSED')
  })

  test('a frozen error is copied', () => {
    const frozen = Object.freeze(new Error('x'))
    const described = describeError(frozen, context) as Error & RequestErrorContext
    assert.notEqual(described, frozen)
    assert.equal(described.phase, 'headers')
  })

  test('parser errors keep their code and data', () => {
    const described = describeError(new HTTPParserError('bad', 'STRICT', 'rest'), context) as HTTPParserError
    assert.equal(described instanceof HTTPParserError, true)
    assert.equal(described.code, 'HPE_STRICT')
    assert.equal(described.data, 'rest')
  })

  test('the socket an error brings stays when the request has none', () => {
    const socket = { remotePort: 1 }
    const described = describeError(new SocketError('x', socket), { ...context, socket: null }) as SocketError
    assert.deepEqual(described.socket, socket)
    const without = describeError(new Error('x'), { ...context, socket: null }) as Error & RequestErrorContext
    assert.equal(without.socket, null)
  })
})
