/** The stack of a described error: lazy, printable, and replaceable by the caller. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect, types } from 'node:util'
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
  path: '/p',
  phase: 'headers',
  reusedSocket: false,
  retrySafety: 'safe',
  timings: { queued: 1, connect: null, secured: null, sent: null, firstByte: null, end: 2 },
  socket: { bytesWritten: 2, bytesRead: 1 },
}
const WORDS =
  'GET http://a.test/p while waiting for the response head on a new connection, 2 bytes sent and 1 received'

function firstLine(error: Error): string {
  return error.stack!.split('\n', 1)[0]!
}

/** Runs with a stack formatter and counts its calls. */
function withFormatter<T>(format: (error: Error, sites: NodeJS.CallSite[]) => unknown, work: () => T): T {
  const before = Error.prepareStackTrace
  Error.prepareStackTrace = format
  try {
    return work()
  } finally {
    Error.prepareStackTrace = before
  }
}

test('the first line of the stack has the context, the message has not', () => {
  const error = describeError(new SocketError('other side closed'), context)
  assert.equal(error.message, 'other side closed')
  assert.equal(firstLine(error), `SocketError: other side closed (${WORDS})`)
  assert.match(error.stack!, /\n {4}at .*error-stack\.test/)
  assert.equal(String(error), 'SocketError: other side closed')
  assert.equal(types.isNativeError(error), true)
})

test('it is printed, cloned and logged with it', () => {
  const error = describeError(new HeadersTimeoutError(), context)
  assert.ok(inspect(error).startsWith(`HeadersTimeoutError: Headers Timeout Error (${WORDS})\n`))
  assert.match(inspect(error), /phase: 'headers'/)
  assert.equal(firstLine(structuredClone(error)), firstLine(error))
  const logged = JSON.parse(JSON.stringify(error))
  assert.equal(logged.origin, 'http://a.test')
  assert.equal(logged.phase, 'headers')
  assert.equal(Object.keys(error).includes('stack'), false)
})

test('no stack is formatted before it is asked for', () => {
  let formatted = 0
  withFormatter(
    (error) => {
      formatted++
      return `${error}\n    at nowhere`
    },
    () => {
      const error = describeError(new SocketError('x'), context)
      assert.equal(formatted, 0)
      assert.equal(error.stack, `SocketError: x (${WORDS})\n    at nowhere`)
      assert.equal(formatted, 1)
    },
  )
})

test('a stack in a form of the caller’s own stays as it is', () => {
  withFormatter(
    (_error, sites) => sites,
    () => assert.ok(Array.isArray(describeError(new SocketError('x'), context).stack)),
  )
  withFormatter(
    (error) => JSON.stringify({ message: error.message }),
    () => assert.equal(describeError(new SocketError('x'), context).stack, '{"message":"x"}'),
  )
})

test('a stack can be taken again, and written', () => {
  const error = describeError(new SocketError('x'), context)
  Error.captureStackTrace(error)
  assert.equal(firstLine(error), 'SocketError: x')
  const other = describeError(new SocketError('x'), context)
  other.stack = 'mine'
  assert.equal(other.stack, 'mine')
  assert.equal(Object.keys(other).includes('stack'), false)
})

test('a message of several lines: the context ends the first', () => {
  const error = describeError(new SocketError('one\ntwo'), context)
  assert.ok(error.stack!.startsWith(`SocketError: one (${WORDS})\ntwo\n`))
})

test('an error of the runtime has the context in its first line, too', () => {
  const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  const { stack } = error
  assert.equal(describeError(error, context), error)
  assert.equal(error.message, 'read ECONNRESET')
  assert.equal(error.stack, stack!.replace('\n', ` (${WORDS})\n`))
  assert.equal((error as Error & { phase?: string }).phase, 'headers')
  assert.equal(Object.keys(error).includes('stack'), false)
  // A second request that ends with it gets a copy with its own.
  const copy = describeError(error, { ...context, path: '/q' })
  assert.notEqual(copy, error)
  assert.equal(copy.stack, stack!.replace('\n', ` (${WORDS.replace('/p ', '/q ')})\n`))
  assert.equal((copy as Error & { path?: string }).path, '/q')
  assert.equal(firstLine(error), `Error: read ECONNRESET (${WORDS})`)
})

test('the wrong protocol at a port is named', () => {
  const origin = 'https://a.test'
  const noTls = Object.assign(new Error('wrong version number'), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' })
  const secure = describeError(noTls, { ...context, origin, phase: 'connecting', socket: null })
  assert.match(firstLine(secure), /while connecting, the port does not speak TLS: is it one for http\?\)$/)
  const alert = new HTTPParserError('Expected HTTP/', 'INVALID_CONSTANT', '\x15\x03\x03\x00\x02\x02\x46')
  assert.match(firstLine(describeError(alert, context)), /, the port speaks TLS: is it one for https\?\)$/)
  assert.equal(alert.code, 'HPE_INVALID_CONSTANT')
  const other = new HTTPParserError('Expected HTTP/', 'INVALID_CONSTANT', 'SSH-2.0')
  assert.doesNotMatch(firstLine(describeError(other, context)), /TLS/)
})
