import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errors } from '../../src/index.ts'
import { END_RULES, type EndKind } from '../../src/request/end-reason.ts'
import { connectEnd, reportedEnd, socketEnd } from '../../src/request/foreign-error.ts'

const kinds = Object.keys(END_RULES) as EndKind[]
const withCode = (code: string, more: object = {}): Error => Object.assign(new Error('x'), { code, ...more })

describe('what follows from an end', () => {
  test('only destroy() keeps requests from being sent again', () => {
    assert.deepEqual(
      kinds.filter((kind) => !END_RULES[kind].resends),
      ['destroyed'],
    )
  })

  test('a request is not blamed for what has nothing to do with it', () => {
    assert.deepEqual(
      kinds.filter((kind) => !END_RULES[kind].blames),
      ['idle', 'finished', 'handed-over', 'server-name', 'aborted'],
    )
  })

  test('requests that wait fail with an idle connection only where that is meant for them', () => {
    assert.deepEqual(
      kinds.filter((kind) => END_RULES[kind].failsWaiting),
      ['no-stream', 'foreign'],
    )
  })
})

describe('errors that were made elsewhere', () => {
  const sockets: readonly (readonly [string, Error, EndKind])[] = [
    ['a reset by the peer', withCode('ECONNRESET', { syscall: 'read' }), 'torn-down'],
    ['another error of the system', withCode('EPIPE', { syscall: 'write' }), 'lost'],
    ['our SocketError', new errors.SocketError('x'), 'lost'],
    ['our ClientDestroyedError', new errors.ClientDestroyedError(), 'lost'],
    ['our InformationalError', new errors.InformationalError('x'), 'finished'],
    ['a TLS alert', withCode('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), 'foreign'],
    ['an error of the caller', new Error('x'), 'foreign'],
  ]
  for (const [what, error, kind] of sockets) {
    test(`a socket that closes with ${what}: ${kind}`, () => assert.equal(socketEnd(error), kind))
  }

  const connectors: readonly (readonly [string, Error, EndKind])[] = [
    ['our SocketError', new errors.SocketError('x'), 'try-again'],
    ['our InformationalError', new errors.InformationalError('x'), 'try-again'],
    ['a certificate for another name', withCode('ERR_TLS_CERT_ALTNAME_INVALID'), 'wrong-name'],
    ['a refused connection', withCode('ECONNREFUSED', { syscall: 'connect' }), 'unreachable'],
    ['an error of the caller', new Error('x'), 'unreachable'],
  ]
  for (const [what, error, kind] of connectors) {
    test(`a connector that answers with ${what}: ${kind}`, () => assert.equal(connectEnd(error), kind))
  }

  test('a disconnect event is a loss by the code of its error alone', () => {
    assert.equal(reportedEnd(new errors.SocketError('x')), 'lost')
    for (const other of [new errors.InformationalError('x'), new Error('x'), null, undefined]) {
      assert.equal(reportedEnd(other), 'finished')
    }
  })
})
