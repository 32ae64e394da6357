/**
 * The guard of a connector: no connection gets to an address that it refuses, however the address is found. Nothing here
 * leaves this machine: 127.0.0.1 is allowed where a test needs an address to connect to, 127.0.0.2 never is.
 */
import assert from 'node:assert/strict'
import type { LookupAddress, LookupOptions } from 'node:dns'
import dns from 'node:dns'
import { once } from 'node:events'
import type { AddressInfo, LookupFunction, Socket } from 'node:net'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import {
  type BuildConnectorOptions,
  type ConnectorOptions,
  errors,
  type GuardOptions,
} from '../../src/index.ts'
import { buildClientConnector, buildConnector } from '../../src/net/connector.ts'
import { authority, localhost } from '../support/certificates.ts'
import { refusingPort } from '../support/refusing-port.ts'

interface Outcome {
  readonly error: (Error & Record<string, unknown>) | null
  readonly socket: Socket | null
}

function connect(
  t: TestContext,
  options: BuildConnectorOptions,
  call: Partial<ConnectorOptions> & { port: number | string },
): Promise<Outcome> {
  return new Promise((resolve) => {
    buildConnector(options)({ hostname: 'host.test', protocol: 'http:', ...call }, (error, socket) => {
      t.after(() => void socket?.destroy())
      resolve({ error: error as Outcome['error'], socket: socket ?? null })
    })
  })
}

async function refusalOf(...args: Parameters<typeof connect>): Promise<errors.BlockedAddressError> {
  const { error } = await connect(...args)
  assert.ok(error instanceof errors.BlockedAddressError, String(error))
  return error
}

/** Two servers at one port, the second of which is not to be reached. */
async function twins(t: TestContext): Promise<{ port: number; good: Socket[]; evil: Socket[] }> {
  const good: Socket[] = []
  const evil: Socket[] = []
  const port = await listen(t, '127.0.0.1', 0, good)
  await listen(t, '127.0.0.2', port, evil)
  return { port, good, evil }
}

async function listen(t: TestContext, host: string, port: number, sockets: Socket[]): Promise<number> {
  const server = net.createServer((socket) => void sockets.push(socket.on('error', () => {}).resume()))
  server.listen(port, host)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

const listOf = (addresses: readonly string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: net.isIP(address) }))

/** Answers in turn, and stays with the last; counts how often it is asked. */
function answering(...turns: string[][]): LookupFunction & { asked: LookupOptions[] } {
  const asked: LookupOptions[] = []
  const lookup: LookupFunction = (_hostname, options, callback) => {
    const list = listOf(turns[Math.min(asked.length, turns.length - 1)]!)
    asked.push(options)
    setImmediate(() => {
      if (options.all) callback(null, list)
      else callback(null, list[0]!.address, list[0]!.family)
    })
  }
  return Object.assign(lookup, { asked })
}

/** 127.0.0.1 plays the public Internet. */
const GUARD: GuardOptions = { allow: ['127.0.0.1'] }

/** Each way of going through the addresses of a name. */
const FAMILIES = [{}, { autoSelectFamily: true }, { autoSelectFamily: false }] as const

test('an address literal is refused before a socket is opened', async (t) => {
  const connecting = t.mock.method(net, 'connect')
  const securing = t.mock.method(tls, 'connect')
  for (const hostname of ['127.0.0.1', '[::1]', '::1', '::ffff:127.0.0.1', '0.0.0.0', '::', '::1%lo']) {
    for (const protocol of ['http:', 'https:']) {
      const { error } = await connect(t, { guard: 'public-only' }, { hostname, protocol, port: 9 + 8000 })
      assert.ok(error !== null, hostname)
    }
  }
  assert.equal(connecting.mock.callCount() + securing.mock.callCount(), 0)
})

test('the returned socket of a refusal is destroyed, and the answer comes once and later', async () => {
  let answers = 0
  const returned = buildConnector({ guard: 'public-only' })(
    { hostname: '127.0.0.1', protocol: 'http:', port: 80 },
    () => void answers++,
  )
  assert.deepEqual([returned.destroyed, answers], [true, 0])
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(answers, 1)
})

test('what passes is connected to', async (t) => {
  const { port, good } = await twins(t)
  for (const family of FAMILIES) {
    const { socket } = await connect(
      t,
      { guard: GUARD, ...family, lookup: answering(['127.0.0.1']) },
      { port },
    )
    assert.equal(socket?.remoteAddress, '127.0.0.1')
  }
  const { socket } = await connect(t, { guard: GUARD }, { hostname: '127.0.0.1', port })
  assert.equal(socket?.remoteAddress, '127.0.0.1')
  assert.equal(good.length, 4)
})

for (const family of FAMILIES) {
  describe(`the addresses of a name, with ${JSON.stringify(family)}`, () => {
    test('all are refused', async (t) => {
      const { port, evil } = await twins(t)
      const lookup = answering(['127.0.0.2', '::1'])
      const error = await refusalOf(t, { guard: GUARD, ...family, lookup }, { port })
      assert.deepEqual(
        [error.rule, error.entry, error.hostname, error.address, error.port],
        ['loopback', '127.0.0.0/8', 'host.test', '127.0.0.2', port],
      )
      assert.equal(evil.length, 0)
    })

    test('of mixed answers only those that pass are tried, wherever they are', async (t) => {
      const { port, evil } = await twins(t)
      for (const addresses of [
        ['127.0.0.1', '127.0.0.2'],
        ...('autoSelectFamily' in family && !family.autoSelectFamily
          ? []
          : [['127.0.0.2', '::1', '127.0.0.1']]),
      ]) {
        const { socket } = await connect(
          t,
          { guard: GUARD, ...family, lookup: answering(addresses) },
          { port },
        )
        assert.equal(socket?.remoteAddress, '127.0.0.1')
      }
      assert.equal(evil.length, 0)
    })

    test('when those that pass cannot be reached, the others are not tried', async (t) => {
      const port = await refusingPort(t)
      const evil: Socket[] = []
      await listen(t, '127.0.0.2', port, evil)
      const lookup = answering(['127.0.0.1', '127.0.0.2'])
      const { error } = await connect(t, { guard: GUARD, ...family, lookup }, { port })
      assert.equal(error?.['code'], 'ECONNREFUSED')
      assert.equal(evil.length, 0)
    })

    test('a resolver that answers good first and evil next is asked once for each connection', async (t) => {
      const { port, good, evil } = await twins(t)
      const lookup = answering(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2'])
      const options = { guard: GUARD, ...family, lookup }
      for (const expected of [null, 'loopback', null, 'loopback']) {
        const { error, socket } = await connect(t, options, { port })
        assert.equal(error === null ? null : error['rule'], expected)
        assert.equal(socket === null, expected !== null)
      }
      assert.deepEqual([lookup.asked.length, good.length, evil.length], [4, 2, 0])
    })
  })
}

test('strict: one refused address refuses the name', async (t) => {
  const { port, good, evil } = await twins(t)
  const lookup = answering(['127.0.0.1', '127.0.0.2'])
  const error = await refusalOf(t, { guard: { ...GUARD, strict: true }, lookup }, { port })
  assert.equal(error.address, '127.0.0.2')
  assert.deepEqual([good.length, evil.length], [0, 0])
})

test('an answer is copied: what was checked is what is used', async (t) => {
  const { port, evil } = await twins(t)
  for (const family of FAMILIES) {
    let reads = 0
    const lookup = ((_hostname: string, options: LookupOptions, callback: (...args: unknown[]) => void) => {
      const sly = {
        get address() {
          return reads++ === 0 ? '127.0.0.1' : '127.0.0.2'
        },
        family: 4,
      }
      callback(null, options.all ? [sly] : '127.0.0.1', 4)
    }) as LookupFunction
    const { socket } = await connect(t, { guard: GUARD, ...family, lookup }, { port })
    assert.equal(socket?.remoteAddress, '127.0.0.1')
  }
  assert.equal(evil.length, 0)
})

test('a resolver that answers twice, or with one address where many are asked for', async (t) => {
  const { port, evil } = await twins(t)
  const lookup = ((_hostname: string, _options: LookupOptions, callback: (...args: unknown[]) => void) => {
    callback(null, '127.0.0.1', 6)
    callback(null, '127.0.0.2', 4)
  }) as LookupFunction
  for (const family of FAMILIES) {
    const { socket } = await connect(t, { guard: GUARD, ...family, lookup }, { port })
    assert.equal(socket?.remoteAddress, '127.0.0.1')
  }
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(evil.length, 0)
})

test('an error, an empty answer and nonsense of the resolver are errors of the connect', async (t) => {
  const failing = ((_hostname: string, _options: LookupOptions, callback: (error: Error) => void) =>
    callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))) as unknown as LookupFunction
  for (const family of FAMILIES) {
    const { error } = await connect(t, { guard: GUARD, ...family, lookup: failing }, { port: 80 })
    assert.equal(error?.['code'], 'ENOTFOUND')
    const empty = ((_h: string, options: LookupOptions, callback: (...args: unknown[]) => void) =>
      callback(null, options.all ? [] : '', 0)) as LookupFunction
    assert.ok((await connect(t, { guard: GUARD, ...family, lookup: empty }, { port: 80 })).error)
    const nonsense = ((_h: string, options: LookupOptions, callback: (...args: unknown[]) => void) =>
      callback(null, options.all ? [{ address: '127.1' }, null, 7] : '127.1', 4)) as LookupFunction
    assert.equal(
      (await refusalOf(t, { guard: GUARD, ...family, lookup: nonsense }, { port: 80 })).rule,
      'invalid-address',
    )
  }
})

test('a resolver that is an async function and rejects, or answers with what has no text', async (t) => {
  const rejecting = (async () => {
    await null
    throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
  }) as unknown as LookupFunction
  const rejectingWithout = (() => Promise.reject(null)) as unknown as LookupFunction
  const textless = ((_h: string, _options: LookupOptions, callback: (...args: unknown[]) => void) =>
    setImmediate(callback, null, [{ address: Object.create(null) }], 4)) as LookupFunction
  for (const family of FAMILIES) {
    for (const guard of [GUARD, null]) {
      const { error } = await connect(t, { guard, ...family, lookup: rejecting }, { port: 80 })
      assert.equal(error?.['code'], 'ENOTFOUND')
      const other = await connect(t, { guard, ...family, lookup: rejectingWithout }, { port: 80 })
      assert.equal(other.error?.message, 'lookup failed')
    }
    const refusal = await refusalOf(t, { guard: GUARD, ...family, lookup: textless }, { port: 80 })
    assert.equal(refusal.rule, 'invalid-address')
  }
})

test('numbers that the resolver of the system takes for addresses', async (t) => {
  const { port, good } = await twins(t)
  for (const hostname of [
    '127.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '017700000001',
    '127.0.1',
    '0',
  ]) {
    const { error } = await connect(t, { guard: 'public-only' }, { hostname, port })
    assert.ok(error !== null, hostname)
  }
  assert.equal(good.length, 0)
})

test('localhost is refused by its addresses, in each spelling', async (t) => {
  const { port, good } = await twins(t)
  t.mock.method(dns, 'lookup', answering(['127.0.0.1', '::1']))
  for (const hostname of ['localhost', 'LOCALHOST', 'localhost.', '', 'ｌocalhost']) {
    for (const family of FAMILIES) {
      const error = await refusalOf(t, { guard: 'public-only', ...family }, { hostname, port })
      assert.equal(error.rule, 'loopback')
    }
  }
  assert.equal(good.length, 0)
})

test('names, ports and hosts are refused without a lookup', async (t) => {
  const lookup = answering(['127.0.0.1'])
  const port = 8080
  for (const [guard, call, rule] of [
    [{ ...GUARD, deny: ['.host.test'] }, { hostname: 'a.HOST.test.', port }, 'deny'],
    [{ ...GUARD, hosts: ['good.test'] }, { port }, 'hosts'],
    [{ ...GUARD, ports: [80] }, { port }, 'ports'],
    [GUARD, { port: 22 }, 'bad-port'],
    [GUARD, { port: '0x16' }, 'bad-port'],
  ] as const) {
    assert.equal((await refusalOf(t, { guard, lookup }, call)).rule, rule)
  }
  assert.equal(lookup.asked.length, 0)
})

test('a Unix socket is refused, unless the policy is any', async (t) => {
  const path =
    process.platform === 'win32' ? '\\\\.\\pipe\\guard' : join(tmpdir(), `guard-${process.pid}.sock`)
  const server = net.createServer((socket) => socket.on('error', () => {}).resume())
  server.listen(path)
  await once(server, 'listening')
  t.after(() => void server.close())
  for (const name of ['socketPath', 'path']) {
    const error = await refusalOf(t, { guard: GUARD, [name]: path }, { hostname: '127.0.0.1', port: 80 })
    assert.deepEqual(
      [error.rule, error.address, error.hostname, error.port],
      ['socket-path', path, null, null],
    )
  }
  const { socket } = await connect(t, { guard: 'any', socketPath: path }, { hostname: 'x.test', port: 80 })
  assert.ok(socket)
})

test('TLS on an open connection: what can be known is checked', async (t) => {
  const inner = new net.Socket()
  t.after(() => void inner.destroy())
  for (const hostname of ['127.0.0.1', 'localhost', 'metadata.google.internal']) {
    const { error } = await connect(
      t,
      { guard: 'public-only' },
      { hostname, protocol: 'https:', port: 443, httpSocket: inner },
    )
    assert.ok(error instanceof errors.BlockedAddressError)
  }
})

test('over TLS the guard sees the same, and the certificate is for the name', async (t) => {
  const server = tls.createServer(localhost, (socket) => void socket.on('error', () => {}).resume())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const { port } = server.address() as AddressInfo
  const call = { hostname: 'localhost', protocol: 'https:', port }
  const lookup = answering(['127.0.0.2', '127.0.0.1'])
  const { socket } = await connect(t, { guard: GUARD, ca: authority, lookup }, call)
  assert.equal(socket?.remoteAddress, '127.0.0.1')
  assert.equal((await refusalOf(t, { guard: 'public-only', lookup }, call)).rule, 'loopback')
})

test('the address of a plain request with another server name is checked', async (t) => {
  const { port, evil } = await twins(t)
  const call = { hostname: '127.0.0.2', servername: 'good.test', port }
  await refusalOf(t, { guard: { allow: ['127.0.0.1', 'good.test'] } }, call)
  assert.equal(evil.length, 0)
})

test('an address as the server name of a plain request is not connected to', async (t) => {
  const { port, evil } = await twins(t)
  const options = { guard: { allow: ['127.0.0.1'] } }
  for (const servername of ['127.0.0.2', '::ffff:127.0.0.2', '::1']) {
    const call = { hostname: '127.0.0.1', servername, port }
    assert.equal((await connect(t, options, call)).socket?.remoteAddress, '127.0.0.1')
    const fixed = await connect(t, { ...options, servername }, { hostname: '127.0.0.1', port })
    assert.equal(fixed.socket?.remoteAddress, '127.0.0.1')
  }
  assert.equal(evil.length, 0)
})

test('localAddress has no part in it', async (t) => {
  const { port, evil } = await twins(t)
  const lookup = answering(['127.0.0.2'])
  await refusalOf(t, { guard: GUARD, lookup, localAddress: '127.0.0.1' }, { port })
  const passing = { guard: GUARD, lookup: answering(['127.0.0.1']), localAddress: '127.0.0.2' }
  assert.equal((await connect(t, passing, { port })).socket?.localAddress, '127.0.0.2')
  assert.equal(evil.length, 0)
})

test('options that would change the destination below the guard have no effect', async (t) => {
  const { port, evil } = await twins(t)
  const sly = { host: '127.0.0.2', hostname: '127.0.0.2', address: '127.0.0.2' }
  const options = { guard: GUARD, lookup: answering(['127.0.0.1']), ...sly } as BuildConnectorOptions
  assert.equal((await connect(t, options, { port })).socket?.remoteAddress, '127.0.0.1')
  assert.equal(evil.length, 0)
})

test('check gets the address of each attempt', async (t) => {
  const { port } = await twins(t)
  const seen: unknown[] = []
  const guard: GuardOptions = {
    policy: 'any',
    check: (target) => {
      seen.push(target)
      return target.address === '127.0.0.1'
    },
  }
  const lookup = answering(['127.0.0.2', '127.0.0.1'])
  assert.equal((await connect(t, { guard, lookup }, { port })).socket?.remoteAddress, '127.0.0.1')
  assert.deepEqual(seen, [
    { hostname: 'host.test', address: '127.0.0.2', family: 4, port },
    { hostname: 'host.test', address: '127.0.0.1', family: 4, port },
  ])
})

test('a wrong guard is refused when the connector is built', () => {
  for (const build of [buildConnector, buildClientConnector]) {
    assert.throws(() => build({ guard: 'privat' as never }), { code: 'UND_ERR_INVALID_ARG' })
    assert.throws(() => build({ guard: { deny: ['x y'] } }), { code: 'UND_ERR_INVALID_ARG' })
  }
  buildConnector({ guard: null })
})

test('a polluted prototype neither adds a guard nor opens one', async (t) => {
  const { port, good } = await twins(t)
  const prototype = Object.prototype as Record<string, unknown>
  prototype['guard'] = 'any'
  prototype['allow'] = ['127.0.0.0/8']
  try {
    await refusalOf(t, { guard: {} }, { hostname: '127.0.0.1', port })
    prototype['guard'] = 'public-only'
    assert.ok((await connect(t, {}, { hostname: '127.0.0.1', port })).socket)
  } finally {
    delete prototype['guard']
    delete prototype['allow']
  }
  assert.equal(good.length, 1)
})
