import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { http1Error } from '../../src/connection/failure-to-error.ts'
import { errors } from '../../src/index.ts'
import * as failures from '../../src/protocol/http1/failures.ts'

describe('what a user sees of a failure of HTTP/1.1', () => {
  const socket = { remoteAddress: '192.0.2.1', remotePort: 80 }
  const rows = [
    [failures.EOF_BEFORE_HEAD, errors.SocketError, 'other side closed'],
    [failures.EOF_IN_BODY, errors.SocketError, 'other side closed'],
    [failures.UNSOLICITED, errors.SocketError, 'bad response'],
    [failures.TOO_MANY_INTERIM, errors.SocketError, 'bad response'],
    [failures.BAD_UPGRADE, errors.SocketError, 'bad upgrade'],
    [failures.HEADERS_OVERFLOW, errors.HeadersOverflowError, 'Headers Overflow Error'],
    [
      failures.CONTENT_LENGTH_MISMATCH,
      errors.ResponseContentLengthMismatchError,
      'Response body length does not match content-length header',
    ],
  ] as const
  for (const [code, kind, message] of rows) {
    test(code, () => {
      const failure = failures.peerFailure(code, 'in words')
      const error = http1Error(failure, null, socket)
      assert.ok(error instanceof kind)
      assert.equal(error.message, message)
      if (error instanceof errors.SocketError) assert.equal(error.socket, socket)
    })
  }

  const codes = Object.keys(failures).filter((name) => name.startsWith('HPE_'))
  for (const code of codes) {
    test(code, () => {
      const error = http1Error(
        failures.peerFailure(code, 'in words'),
        Buffer.from('\xe9rest', 'latin1'),
        socket,
      )
      assert.ok(error instanceof errors.HTTPParserError)
      assert.deepEqual(
        [error.code, error.message, error.data],
        [code, 'Response does not match the HTTP/1.1 protocol (in words)', '\xe9rest'],
      )
      const atEof = http1Error(failures.peerFailure(code, 'in words'), null, socket)
      assert.equal((atEof as errors.HTTPParserError).data, undefined)
    })
  }
})
