import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import dns from 'node:dns'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo, LookupFunction, Socket } from 'node:net'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { ConnectTimeoutError, InvalidArgumentError } from '../../src/errors.ts'
import { ConnectDetails } from '../../src/net/connect-details.ts'
import type { BuildConnectorOptions, Connector, ConnectorOptions } from '../../src/net/connector.ts'
import { buildClientConnector, buildConnector } from '../../src/net/connector.ts'
import { refusingPort } from '../support/refusing-port.ts'

interface Outcome {
  readonly returned: Socket
  readonly error: Error | null
  readonly socket: Socket | null
}

function connectWith(connector: Connector, options: ConnectorOptions): Promise<Outcome> {
  // The connector's timer does not keep the process alive; without anything else open, the test has to.
  const alive = new MessageChannel()
  alive.port1.ref()
  return new Promise((resolve) => {
    const returned: Socket = connector(options, (error, socket) => {
      // One turn later a second call of the callback would have been seen by the runtime as unhandled.
      setImmediate(() => {
        alive.port1.close()
        resolve({ returned, error, socket })
      })
    })
  })
}

async function connected(t: TestContext, connector: Connector, options: ConnectorOptions): Promise<Outcome> {
  const outcome = await connectWith(connector, options)
  assert.equal(outcome.error, null)
  t.after(() => void outcome.socket?.destroy())
  return outcome
}

async function listening(t: TestContext, host: string, port = 0): Promise<number> {
  const server = net.createServer((socket) => void socket.on('error', () => {}).resume())
  server.listen(port, host)
  await once(server, 'listening')
  t.after(() => void server.close())
  return (server.address() as AddressInfo).port
}

const http = (port: number, hostname = 'host.test'): ConnectorOptions => ({
  hostname,
  host: `${hostname}:${port}`,
  protocol: 'http:',
  port: String(port),
  servername: null,
  localAddress: null,
})

function resolvingTo(...addresses: string[]): LookupFunction {
  const list: LookupAddress[] = addresses.map((address) => ({ address, family: net.isIP(address) }))
  return (_hostname, options, callback) => {
    if (options.all) callback(null, list)
    else callback(null, list[0]!.address, list[0]!.family)
  }
}

/** Records the options of every net.connect and still connects. */
function spyOnConnect(t: TestContext): Array<Record<string, unknown>> {
  const seen: Array<Record<string, unknown>> = []
  const original = net.connect
  t.mock.method(net, 'connect', (options: net.NetConnectOpts) => {
    seen.push(options as unknown as Record<string, unknown>)
    return original(options)
  })
  return seen
}

test('the socket is returned at once, connecting, and given to the callback when connected', async (t) => {
  const port = await listening(t, '127.0.0.1')
  let events = 0
  const { returned, socket } = await new Promise<{ returned: Socket; socket: Socket }>((resolve) => {
    const returned: Socket = buildConnector()(http(port, '127.0.0.1'), (_error, socket) => {
      resolve({ returned, socket: socket! })
    })
    returned.on('connect', () => events++)
    assert.equal(returned.connecting, true)
  })
  t.after(() => void returned.destroy())
  assert.equal(socket, returned)
  assert.equal(events, 1)
  assert.equal(returned.connecting, false)
})

test('options may be left out, undefined or null', async (t) => {
  const port = await listening(t, '127.0.0.1')
  for (const connector of [buildConnector(), buildConnector(undefined), buildConnector(null)]) {
    await connected(t, connector, http(port, '127.0.0.1'))
  }
})

test('defaults of a plain socket', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const seen = spyOnConnect(t)
  const noDelay = t.mock.method(net.Socket.prototype, 'setNoDelay')
  const keepAlive = t.mock.method(net.Socket.prototype, 'setKeepAlive')
  const { socket } = await connected(t, buildConnector(), http(port, '127.0.0.1'))
  assert.equal(seen.length, 1)
  assert.equal(seen[0]!['highWaterMark'], 65_536)
  assert.equal(seen[0]!['host'], '127.0.0.1')
  assert.equal(seen[0]!['port'], String(port))
  assert.deepEqual(noDelay.mock.calls[0]!.arguments, [true])
  assert.deepEqual(keepAlive.mock.calls[0]!.arguments, [true, 60_000])
  assert.equal('alpnProtocol' in socket!, false)
})

for (const [given, expected] of [
  [{ keepAlive: null }, [true, 60_000]],
  [{ keepAlive: true, keepAliveInitialDelay: 5 }, [true, 5]],
  [{ keepAliveInitialDelay: null }, [true, 60_000]],
  [{ keepAlive: false }, undefined],
] as const) {
  test(`keep-alive with ${JSON.stringify(given)}`, async (t) => {
    const port = await listening(t, '127.0.0.1')
    const keepAlive = t.mock.method(net.Socket.prototype, 'setKeepAlive')
    await connected(t, buildConnector(given), http(port, '127.0.0.1'))
    assert.deepEqual(keepAlive.mock.calls[0]?.arguments, expected)
  })
}

test('the default port is 80', (t) => {
  const seen: Array<Record<string, unknown>> = []
  t.mock.method(net, 'connect', (options: Record<string, unknown>) => {
    seen.push(options)
    return new net.Socket()
  })
  for (const port of ['', null, undefined]) {
    const socket = buildConnector()({ hostname: '127.0.0.1', protocol: 'http:', port }, () => {})
    socket.destroy()
  }
  assert.deepEqual(
    seen.map((options) => options['port']),
    [80, 80, 80],
  )
})

test('what is not named is passed on, functions included (CVE-2026-84961)', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const seen = spyOnConnect(t)
  const onread = { buffer: () => Buffer.alloc(8), callback: () => true }
  const options = { onread, family: 4, hints: dns.ADDRCONFIG, highWaterMark: 7, madeUp: { x: 1 } }
  const lookup = resolvingTo('127.0.0.1')
  await connected(t, buildConnector({ ...options, lookup, autoSelectFamily: false }), http(port))
  for (const [name, value] of Object.entries(options)) assert.equal(seen[0]![name], value, name)
  for (const name of ['timeout', 'maxCachedSessions', 'allowH2', 'useH2c', 'socketPath', 'keepAlive']) {
    assert.equal(name in seen[0]!, false, name)
  }
})

test('inherited options are not read, and none reaches the runtime', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const seen = spyOnConnect(t)
  const prototype = Object.prototype as Record<string, unknown>
  prototype['socketPath'] = '/nowhere'
  prototype['path'] = '/nowhere'
  prototype['useH2c'] = true
  try {
    const { socket } = await connected(t, buildConnector({}), http(port, '127.0.0.1'))
    assert.equal('alpnProtocol' in socket!, false)
    assert.equal(seen[0]!['path'], undefined)
    assert.equal(seen[0]!['useH2c'], undefined)
  } finally {
    for (const name of ['socketPath', 'path', 'useH2c']) delete prototype[name]
  }
})

test('maxCachedSessions is checked', () => {
  for (const maxCachedSessions of [-1, 1.5, Number.NaN, '1' as unknown as number]) {
    assert.throws(() => buildConnector({ maxCachedSessions }), {
      name: 'InvalidArgumentError',
      message: 'maxCachedSessions must be a positive integer or zero',
    })
  }
  buildConnector({ maxCachedSessions: 0 })
  buildConnector({ maxCachedSessions: null })
})

test('useH2c marks plain sockets as h2', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const { socket } = await connected(t, buildConnector({ useH2c: true }), http(port, '127.0.0.1'))
  assert.equal((socket as Socket & { alpnProtocol?: string }).alpnProtocol, 'h2')
})

for (const name of ['socketPath', 'path']) {
  test(`${name} connects to an IPC endpoint; host and port are ignored`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'connector-'))
    t.after(() => rm(folder, { recursive: true }))
    const endpoint = join(folder, 's')
    const server = net.createServer((socket) => void socket.resume()).listen(endpoint)
    await once(server, 'listening')
    t.after(() => void server.close())
    const lookup = (): void => assert.fail('resolved')
    const { socket } = await connected(t, buildConnector({ [name]: endpoint, lookup }), http(1))
    assert.equal(socket!.remoteAddress, undefined)
    assert.equal(socket!.readyState, 'open')
  })
}

test('the host and the port of the call count, not those of the options', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const connector = buildConnector({ host: '192.0.2.1', port: 1 })
  const { socket } = await connected(t, connector, http(port, '127.0.0.1'))
  assert.equal(socket!.remotePort, port)
})

test('an IPC endpoint that is not there gives the error of the runtime', async () => {
  const { error } = await connectWith(buildConnector({ socketPath: '/nowhere/s' }), http(1))
  assert.equal((error as NodeJS.ErrnoException).code, 'ENOENT')
})

test('localAddress of the call is used, else that of the connector', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const connector = buildConnector({ localAddress: '127.0.0.2' })
  const first = await connected(t, connector, { ...http(port, '127.0.0.1'), localAddress: '127.0.0.3' })
  assert.equal(first.socket!.localAddress, '127.0.0.3')
  const second = await connected(t, connector, http(port, '127.0.0.1'))
  assert.equal(second.socket!.localAddress, '127.0.0.2')
})

test('an IP literal with another server name is connected to by name', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const seen = spyOnConnect(t)
  const connector = buildConnector()
  const { socket } = await connected(t, connector, { ...http(port, '127.0.0.1'), servername: 'name.test' })
  assert.equal(seen[0]!['host'], 'name.test')
  assert.equal(socket!.remoteAddress, '127.0.0.1')
  await connected(t, connector, { ...http(port, '127.0.0.1'), servername: '127.0.0.1' })
  assert.equal(seen[1]!['host'], '127.0.0.1')
})

test('brackets around IPv6 are accepted', async (t) => {
  const port = await listening(t, '::1')
  await connected(t, buildConnector(), http(port, '[::1]'))
})

test('httpSocket is refused for plain connections', () => {
  const httpSocket = new net.Socket()
  assert.throws(
    () => buildConnector()({ hostname: 'a.test', protocol: 'http:', httpSocket }, () => {}),
    InvalidArgumentError,
  )
})

for (const [name, call] of [
  ['hostname', { hostname: 'a\0.test' }],
  ['hostname', { hostname: 'a\r\n.test' }],
  ['servername', { hostname: '127.0.0.1', servername: 'a\0' }],
] as const) {
  test(`control characters in ${JSON.stringify(call)} are refused before anything is opened`, async (t) => {
    const seen = spyOnConnect(t)
    let returnedFirst = false
    const error = await new Promise<Error | null>((resolve) => {
      const socket = buildConnector()({ protocol: 'http:', ...call }, (error, _socket) => {
        assert.equal(returnedFirst, true)
        resolve(error)
      })
      returnedFirst = true
      assert.equal(socket.destroyed, true)
    })
    assert.ok(error instanceof InvalidArgumentError)
    assert.equal(error.message, `invalid ${name}`)
    assert.equal(seen.length, 0)
  })
}

test('what the runtime throws for an option comes through the callback', async () => {
  const { error, returned } = await connectWith(buildConnector(), {
    ...http(1, '127.0.0.1'),
    port: 'x',
  })
  assert.equal((error as NodeJS.ErrnoException).code, 'ERR_SOCKET_BAD_PORT')
  assert.equal(returned.destroyed, true)
})

test('a lookup that throws, too', async () => {
  const reason = new Error('no resolver')
  const lookup = (): void => {
    throw reason
  }
  const { error } = await connectWith(buildConnector({ lookup }), http(1))
  assert.equal(error, reason)
})

test('a lookup that returns a thenable which rejects', async () => {
  const reason = new Error('no resolver')
  // biome-ignore lint/suspicious/noThenProperty: what another library may return
  const later = { then: (_: unknown, reject: (reason: Error) => void) => reject(reason) }
  const { error } = await connectWith(buildConnector({ lookup: () => later as never }), http(1))
  assert.equal(error, reason)
})

test('a missing hostname means localhost, as in the runtime', (t) => {
  const seen: unknown[] = []
  t.mock.method(net, 'connect', (options: Record<string, unknown>) => {
    seen.push(options['host'])
    return new net.Socket()
  })
  buildConnector()({ hostname: '', protocol: 'http:' }, () => {}).destroy()
  assert.deepEqual(seen, ['localhost'])
})

test('a refused connection gives the error of the runtime', async (t) => {
  const { error, socket } = await connectWith(buildConnector(), http(await refusingPort(t), '127.0.0.1'))
  assert.equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED')
  assert.equal((error as NodeJS.ErrnoException).syscall, 'connect')
  assert.equal(socket, undefined)
})

test('a name that does not resolve gives the error of the resolver', async () => {
  const reason = Object.assign(new Error('getaddrinfo ENOTFOUND host.test'), { code: 'ENOTFOUND' })
  const lookup: LookupFunction = (_hostname, _options, callback) => callback(reason, '')
  const { error } = await connectWith(buildConnector({ lookup }), http(80))
  assert.equal(error, reason)
})

test('by default the next address is tried when the first one refuses', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const seen = spyOnConnect(t)
  const connector = buildConnector({ lookup: resolvingTo('127.0.0.2', '127.0.0.1') })
  const { socket } = await connected(t, connector, http(port))
  assert.equal(socket!.remoteAddress, '127.0.0.1')
  assert.deepEqual(
    seen.map((options) => options['host']),
    ['host.test', 'host.test'],
  )
})

test('by default a dead IPv6 address falls through to IPv4', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const { socket } = await connected(
    t,
    buildConnector({ lookup: resolvingTo('::1', '127.0.0.1') }),
    http(port),
  )
  assert.equal(socket!.remoteFamily, 'IPv4')
})

test('a local address of one family passes over the addresses of the other', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const connector = buildConnector({ lookup: resolvingTo('::1', '127.0.0.1') })
  const { socket } = await connected(t, connector, { ...http(port), localAddress: '127.0.0.2' })
  assert.equal(socket!.localAddress, '127.0.0.2')
})

test('autoSelectFamily false tries the first address only', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const connector = buildConnector({
    autoSelectFamily: false,
    lookup: resolvingTo('127.0.0.2', '127.0.0.1'),
  })
  const { error } = await connectWith(connector, http(port))
  assert.equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED')
  assert.equal((error as NodeJS.ErrnoException & { address: string }).address, '127.0.0.2')
})

test('autoSelectFamily true falls through as well', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const lookup = resolvingTo('::1', '127.0.0.1')
  const { socket } = await connected(t, buildConnector({ autoSelectFamily: true, lookup }), http(port))
  assert.equal(socket!.remoteAddress, '127.0.0.1')
})

test('when no address answers, the error lists them all', async (t) => {
  const lookup = resolvingTo('127.0.0.2', '::1')
  const { error } = await connectWith(buildConnector({ lookup }), http(await refusingPort(t)))
  assert.ok(error instanceof AggregateError)
  assert.equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED')
  assert.deepEqual(
    error.errors.map((member: { address: string }) => member.address),
    ['127.0.0.2', '::1'],
  )
})

test('a name with one address takes one socket, which is the returned one', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const seen = spyOnConnect(t)
  for (const autoSelectFamily of [undefined, true]) {
    const connector = buildConnector({ autoSelectFamily, lookup: resolvingTo('127.0.0.1') })
    const { returned, socket } = await connected(t, connector, http(port))
    assert.equal(socket, returned)
  }
  assert.equal(seen.length, 2)
})

/** Net.connect that never answers, so that timers can be driven. */
function stubSilentConnect(t: TestContext): void {
  t.mock.method(net, 'connect', () => new net.Socket())
}

const defaultTimeouts: Array<[BuildConnectorOptions, number]> = [
  [{}, 10_000],
  [{ timeout: null }, 10_000],
  [{ timeout: 5 }, 5],
]
for (const [options, milliseconds] of defaultTimeouts) {
  test(`timeout with ${JSON.stringify(options)}`, async (t) => {
    stubSilentConnect(t)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const outcome = connectWith(buildConnector(options), http(81, '127.0.0.1'))
    t.mock.timers.tick(milliseconds)
    const { error, returned } = await outcome
    assert.ok(error instanceof ConnectTimeoutError)
    assert.equal(
      error.message,
      `Connect Timeout Error (attempted address: 127.0.0.1:81, timeout: ${milliseconds}ms)`,
    )
    assert.equal(returned.destroyed, true)
  })
}

test('timeout 0 means no limit', (t) => {
  stubSilentConnect(t)
  const setTimeout = t.mock.method(globalThis, 'setTimeout')
  buildConnector({ timeout: 0 })(http(81, '127.0.0.1'), () => {}).destroy()
  assert.equal(setTimeout.mock.callCount(), 0)
})

test('a resolver that never answers ends in a timeout', async () => {
  const { error } = await connectWith(buildConnector({ timeout: 1, lookup: () => {} }), http(81))
  assert.ok(error instanceof ConnectTimeoutError)
  assert.equal(error.message, 'Connect Timeout Error (attempted address: host.test:81, timeout: 1ms)')
})

/** Keeps the event loop busy, so that timers are overdue when it turns again. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

test('a connect that succeeded while the loop was blocked is no timeout', async (t) => {
  const port = await listening(t, '127.0.0.1')
  const outcome = connected(t, buildConnector({ timeout: 1 }), http(port, '127.0.0.1'))
  block(50)
  await outcome
})

test('an error that came while the loop was blocked wins over the timeout', async (t) => {
  const port = await refusingPort(t)
  const outcome = connectWith(buildConnector({ timeout: 1 }), http(port, '127.0.0.1'))
  block(50)
  assert.equal(((await outcome).error as NodeJS.ErrnoException).code, 'ECONNREFUSED')
})

test('later errors of the socket neither reach the callback nor end the process', async (t) => {
  const port = await listening(t, '127.0.0.1')
  let calls = 0
  const socket = await new Promise<Socket>((resolve) => {
    buildConnector()(http(port, '127.0.0.1'), (_error, socket) => {
      calls++
      resolve(socket!)
    })
  })
  socket.destroy(new Error('later'))
  await new Promise((resolve) => socket.once('close', resolve))
  assert.equal(calls, 1)
})

test('a connect can be abandoned', async (t) => {
  stubSilentConnect(t)
  const reason = new Error('enough')
  const details = new ConnectDetails()
  const connector = buildClientConnector({})
  const outcome = connectWith((...args) => connector(...args, details), http(81, '127.0.0.1'))
  const silent = connectWith(buildConnector(), http(81, '127.0.0.1'))
  const calls = (net.connect as unknown as { mock: { calls: Array<{ result: Socket }> } }).mock.calls
  assert.deepEqual(details.pending?.abandon(reason), [calls[0]!.result])
  calls[1]!.result.destroy()
  assert.equal((await outcome).error, reason)
  assert.equal((await silent).error?.name, 'AbortError')
})
