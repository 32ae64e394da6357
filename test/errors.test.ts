import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type * as ventuno from '../src/index.ts'
import { errors } from '../src/index.ts'
import { copyUrl } from './support/sources.ts'

type ErrorClass = new (...args: never[]) => Error & { code?: string }

/** Class, `name`, `code`, default message. */
const ROWS = [
  ['UndiciError', 'UndiciError', 'UND_ERR', ''],
  ['ConnectTimeoutError', 'ConnectTimeoutError', 'UND_ERR_CONNECT_TIMEOUT', 'Connect Timeout Error'],
  ['HeadersTimeoutError', 'HeadersTimeoutError', 'UND_ERR_HEADERS_TIMEOUT', 'Headers Timeout Error'],
  ['HeadersOverflowError', 'HeadersOverflowError', 'UND_ERR_HEADERS_OVERFLOW', 'Headers Overflow Error'],
  ['BodyTimeoutError', 'BodyTimeoutError', 'UND_ERR_BODY_TIMEOUT', 'Body Timeout Error'],
  [
    'RequestBodyTimeoutError',
    'RequestBodyTimeoutError',
    'UND_ERR_REQ_BODY_TIMEOUT',
    'Request Body Timeout Error',
  ],
  ['InvalidArgumentError', 'InvalidArgumentError', 'UND_ERR_INVALID_ARG', 'Invalid Argument Error'],
  [
    'InvalidReturnValueError',
    'InvalidReturnValueError',
    'UND_ERR_INVALID_RETURN_VALUE',
    'Invalid Return Value Error',
  ],
  ['AbortError', 'AbortError', 'UND_ERR_ABORT', 'The operation was aborted'],
  ['RequestAbortedError', 'AbortError', 'UND_ERR_ABORTED', 'Request aborted'],
  ['InformationalError', 'InformationalError', 'UND_ERR_INFO', 'Request information'],
  [
    'RequestContentLengthMismatchError',
    'RequestContentLengthMismatchError',
    'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
    'Request body length does not match content-length header',
  ],
  [
    'ResponseContentLengthMismatchError',
    'ResponseContentLengthMismatchError',
    'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
    'Response body length does not match content-length header',
  ],
  ['ClientDestroyedError', 'ClientDestroyedError', 'UND_ERR_DESTROYED', 'The client is destroyed'],
  ['ClientClosedError', 'ClientClosedError', 'UND_ERR_CLOSED', 'The client is closed'],
  ['SocketError', 'SocketError', 'UND_ERR_SOCKET', 'Socket error'],
  ['NotSupportedError', 'NotSupportedError', 'UND_ERR_NOT_SUPPORTED', 'Not supported error'],
  [
    'ResponseExceededMaxSizeError',
    'ResponseExceededMaxSizeError',
    'UND_ERR_RES_EXCEEDED_MAX_SIZE',
    'Response content exceeded max size',
  ],
  [
    'BalancedPoolMissingUpstreamError',
    'MissingUpstreamError',
    'UND_ERR_BPL_MISSING_UPSTREAM',
    'No upstream has been added to the BalancedPool',
  ],
  ['RequestRetryError', 'RequestRetryError', 'UND_ERR_REQ_RETRY', 'Request retry error'],
  ['ResponseError', 'ResponseError', 'UND_ERR_RESPONSE', 'Response error'],
  [
    'SecureProxyConnectionError',
    'SecureProxyConnectionError',
    'UND_ERR_PRX_TLS',
    'Secure Proxy Connection failed',
  ],
  ['ProxyConnectionError', 'ProxyConnectionError', 'UND_ERR_PRX_CONN', 'Proxy Connection failed'],
  [
    'MaxOriginsReachedError',
    'MaxOriginsReachedError',
    'UND_ERR_MAX_ORIGINS_REACHED',
    'Maximum allowed origins reached',
  ],
  [
    'MaxConnectionsReachedError',
    'MaxConnectionsReachedError',
    'UND_ERR_MAX_CONNECTIONS_REACHED',
    'Maximum allowed connections reached',
  ],
  ['MaxRedirectsError', 'MaxRedirectsError', 'UND_ERR_REDIRECT_MAX', 'max redirects'],
  ['CircuitOpenError', 'CircuitOpenError', 'UND_ERR_CIRCUIT_OPEN', 'Circuit is open'],
  ['BlockedAddressError', 'BlockedAddressError', 'UND_ERR_BLOCKED_ADDRESS', 'Blocked address'],
  ['ThrottledError', 'ThrottledError', 'UND_ERR_THROTTLED', 'Too many requests are waiting'],
  ['Socks5ProxyError', 'Socks5ProxyError', 'UND_ERR_SOCKS5', 'SOCKS5 proxy error'],
  [
    'MessageSizeExceededError',
    'MessageSizeExceededError',
    'UND_ERR_WS_MESSAGE_SIZE_EXCEEDED',
    'Max decompressed message size exceeded',
  ],
] as const

const classOf = (name: string): ErrorClass => (errors as unknown as Record<string, ErrorClass>)[name]!
const make = (name: string, ...args: unknown[]): Error & { code?: string } =>
  new (classOf(name) as unknown as new (...args: unknown[]) => Error & { code?: string })(...args)

/** The proxy classes take their cause first. */
const messageFirst = (name: string): boolean => !/Proxy.*Connection|ProxyConnection/.test(name)

describe('error classes', () => {
  for (const [className, name, code, message] of ROWS) {
    test(className, () => {
      const error = make(className)
      assert.deepEqual([error.name, error.code, error.message], [name, code, message])
      assert.ok(Object.hasOwn(error, 'name') && Object.hasOwn(error, 'code'))
      assert.match(error.stack ?? '', /errors\.test/)
      assert.ok(error instanceof Error && error instanceof errors.UndiciError)
      assert.ok(error instanceof classOf(className))
      const args = messageFirst(className) ? ['mine'] : [undefined, 'mine']
      assert.equal(make(className, ...args).message, 'mine')
      assert.equal(make(className, ...(messageFirst(className) ? [''] : [undefined, ''])).message, message)
    })
  }

  test('the list is complete', () => {
    const expected = [...ROWS.map(([name]) => name), 'HTTPParserError', 'WebAssemblyNotSupportedError'].sort()
    assert.deepEqual(Object.keys(errors).sort(), expected)
  })

  test('instanceof tells the classes apart', () => {
    for (const [one] of ROWS) {
      for (const [another] of ROWS) {
        const related =
          one === another ||
          another === 'UndiciError' ||
          (one === 'RequestAbortedError' && another === 'AbortError')
        assert.equal(make(one) instanceof classOf(another), related, `${one} instanceof ${another}`)
      }
    }
  })

  test('HTTPParserError is an Error, not an UndiciError', () => {
    const error = new errors.HTTPParserError('bad', 'INVALID_STATUS', Buffer.from('rest'))
    assert.deepEqual(
      [error.name, error.message, error.code, error.data],
      ['HTTPParserError', 'bad', 'HPE_INVALID_STATUS', 'rest'],
    )
    assert.ok(error instanceof Error && error instanceof errors.HTTPParserError)
    assert.equal(error instanceof errors.UndiciError, false)
    const bare = new errors.HTTPParserError('bad')
    assert.deepEqual([bare.code, bare.data], [undefined, undefined])
  })

  test('WebAssemblyNotSupportedError is an Error, not an UndiciError', () => {
    const error = new errors.WebAssemblyNotSupportedError()
    assert.deepEqual(
      [error.name, error.code, error.message],
      [
        'Error',
        'ERR_WEBASSEMBLY_NOT_SUPPORTED',
        'WebAssembly is not supported in this environment, but is required for HTTP/1 parsing',
      ],
    )
    assert.equal(new errors.WebAssemblyNotSupportedError('mine').message, 'mine')
    assert.equal(error instanceof errors.UndiciError, false)
    assert.ok(error instanceof Error && error instanceof errors.WebAssemblyNotSupportedError)
    assert.equal(new Error('x') instanceof errors.WebAssemblyNotSupportedError, false)
    const foreign = { [Symbol.for('undici.error.ERR_WEBASSEMBLY_NOT_SUPPORTED')]: true }
    assert.ok(foreign instanceof errors.WebAssemblyNotSupportedError)
  })

  test('instanceof goes by symbol, so errors of another copy of the library match', () => {
    for (const [className, , code] of ROWS) {
      const foreign = Object.assign(new Error('x'), {
        [Symbol.for('undici.error.UND_ERR')]: true,
        [Symbol.for(`undici.error.${code}`)]: true,
      })
      assert.ok(foreign instanceof classOf(className), className)
      assert.ok(foreign instanceof errors.UndiciError)
      assert.equal(
        (make(className) as unknown as Record<symbol, unknown>)[Symbol.for(`undici.error.${code}`)],
        true,
      )
    }
    const parser = { [Symbol.for('undici.error.UND_ERR_HTTP_PARSER')]: true }
    assert.ok(parser instanceof errors.HTTPParserError)
    for (const value of [null, undefined, 1, 'x', {}, new Error('x')]) {
      assert.equal((value as object) instanceof errors.UndiciError, false)
      assert.equal((value as object) instanceof errors.SocketError, false)
    }
  })

  test('another copy of this library', async () => {
    const copy = (await import(copyUrl('src/errors.ts', 'copy'))) as typeof errors
    assert.notEqual(copy.SocketError, errors.SocketError)
    assert.ok(new copy.SocketError('x') instanceof errors.SocketError)
    assert.ok(new errors.RequestAbortedError() instanceof copy.AbortError)
    assert.equal(new copy.SocketError('x') instanceof errors.ClientClosedError, false)
  })

  for (const minify of [false, true]) {
    test(`a ${minify ? 'minified ' : ''}bundle keeps the names of all classes`, async () => {
      const entryPoints = [fileURLToPath(new URL('../src/index.ts', import.meta.url))]
      const format = 'esm'
      const { outputFiles } = await build({
        entryPoints,
        format,
        minify,
        bundle: true,
        platform: 'node',
        write: false,
      })
      const code = Buffer.from(outputFiles[0]!.contents).toString('base64')
      const copy = (await import(`data:text/javascript;base64,${code}`)) as typeof ventuno
      const classes = [...Object.entries(copy), ...Object.entries(copy.errors)].filter(([name, value]) => {
        return /^[A-Z]/.test(name) && typeof value === 'function'
      })
      assert.ok(classes.length > Object.keys(errors).length + 10)
      for (const [name, value] of classes) assert.equal((value as ErrorClass).name, name)
      assert.equal(new copy.errors.SocketError('x').constructor.name, 'SocketError')
    })
  }

  test("a user's subclass has the ordinary check", () => {
    class Mine extends errors.SocketError {}
    assert.ok(new Mine('x') instanceof Mine)
    assert.ok(new Mine('x') instanceof errors.SocketError)
    assert.ok(new Mine('x') instanceof errors.UndiciError)
    assert.equal(new errors.SocketError('x') instanceof Mine, false)
    class MyParserError extends errors.HTTPParserError {}
    assert.ok(new MyParserError('x') instanceof MyParserError)
    assert.equal(new errors.HTTPParserError('x') instanceof MyParserError, false)
  })

  test('extra arguments', () => {
    const cause = new Error('cause')
    assert.equal(new errors.UndiciError('x', { cause }).cause, cause)
    assert.equal(new errors.InformationalError('x', { cause }).cause, cause)
    const socket = { remotePort: 1 }
    assert.equal(new errors.SocketError('x', socket).socket, socket)
    assert.equal(new errors.SocketError('x', null).socket, null)
    assert.equal(new errors.SecureProxyConnectionError(cause).cause, cause)
    assert.equal(new errors.ProxyConnectionError(cause).cause, cause)
    assert.equal(new errors.Socks5ProxyError('x', 'MINE').code, 'MINE')
    const retry = new errors.RequestRetryError('x', 503, { headers: { a: 'b' }, data: { count: 2 } })
    assert.deepEqual([retry.statusCode, retry.headers, retry.data], [503, { a: 'b' }, { count: 2 }])
    const response = new errors.ResponseError('x', 404, { headers: { a: 'b' }, body: 'gone' })
    assert.deepEqual([response.statusCode, response.headers, response.body], [404, { a: 'b' }, 'gone'])
    assert.equal(new errors.ResponseError('x', 404).body, undefined)
    assert.equal(new errors.ResponseError('x', 404).bodyTruncated, false)
    assert.equal(new errors.ResponseError('x', 404, { bodyTruncated: true }).bodyTruncated, true)
    assert.equal(new errors.RequestRetryError(undefined, 503).data, undefined)
  })
})
