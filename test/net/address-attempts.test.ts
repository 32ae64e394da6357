import assert from 'node:assert/strict'
import type { LookupAddress, LookupOptions } from 'node:dns'
import dns from 'node:dns'
import { EventEmitter } from 'node:events'
import type { LookupFunction, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ConnectTimeoutError } from '../../src/errors.ts'
import type { AttemptOptions } from '../../src/net/address-attempts.ts'
import { AddressAttempts } from '../../src/net/address-attempts.ts'
import { interleaveFamilies } from '../../src/net/addresses.ts'
import { ConnectDetails } from '../../src/net/connect-details.ts'
import { type AddressError, AddressesError } from '../../src/net/connect-errors.ts'
import { PreferredFamilies } from '../../src/net/preferred-families.ts'

/** A socket that does nothing until the test triggers it. */
class ScriptedSocket extends EventEmitter {
  destroyed = false
  address: string | null = null
  reason: Error | undefined

  destroy(reason?: Error): this {
    if (this.destroyed) return this
    this.destroyed = true
    this.reason = reason
    if (reason !== undefined) this.emit('error', reason)
    this.emit('close')
    return this
  }

  refuse(code = 'ECONNREFUSED'): void {
    this.destroy(systemError(code))
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' })
}

type Answer = [error: Error | null, socket?: Socket | undefined]

interface Scene {
  readonly sockets: ScriptedSocket[]
  readonly answers: Answer[]
  readonly returned: ScriptedSocket
  readonly details: ConnectDetails
}

const A = '127.0.0.1'
const B = '127.0.0.2'
const C = '::1'

/** A resolver with a fixed, synchronous answer. */
function answering(...addresses: string[]): LookupFunction {
  return (_hostname, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
}

function begin(options: Partial<AttemptOptions>): Scene {
  const sockets: ScriptedSocket[] = []
  const answers: Answer[] = []
  const open = (lookup: LookupFunction | null): Socket => {
    const socket = new ScriptedSocket()
    sockets.push(socket)
    lookup?.('host.test', { family: 0, hints: 0 }, (error, address) => {
      if (error) socket.destroy(error)
      else if (address === '') socket.refuse('ERR_INVALID_IP_ADDRESS')
      else socket.address = String(address)
    })
    // Only the members that AddressAttempts uses.
    return socket as unknown as Socket
  }
  const details = new ConnectDetails()
  const returned = AddressAttempts.start(
    {
      details,
      hostname: 'host.test',
      port: '80',
      policy: 'sequence',
      lookup: null,
      attemptDelay: 250,
      families: new PreferredFamilies(),
      timeout: 0,
      readyEvent: 'connect',
      open,
      ...options,
    },
    (...args) => void answers.push(args),
  )
  return { sockets, answers, returned: returned as unknown as ScriptedSocket, details }
}

function errorOf(scene: Scene): Error {
  assert.equal(scene.answers.length, 1)
  const [error] = scene.answers[0]!
  assert.ok(error instanceof Error)
  return error
}

function socketOf(scene: Scene): unknown {
  assert.equal(scene.answers.length, 1)
  assert.equal(scene.answers[0]![0], null)
  return scene.answers[0]![1]
}

function addressesOf(scene: Scene): Array<string | null> {
  return scene.sockets.map((socket) => socket.address)
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A resolver that answers on demand. */
function lateLookup(): { lookup: LookupFunction; answer: (...addresses: string[]) => void } {
  let given: Parameters<LookupFunction>[2] | undefined
  return {
    lookup: (_hostname, _options, callback) => {
      given = callback
    },
    answer: (...addresses) => answering(...addresses)('host.test', {}, given!),
  }
}

test('sequence: the first address that works wins, on the returned socket', () => {
  const { lookup, answer } = lateLookup()
  const scene = begin({ lookup })
  answer(A, B)
  scene.returned.emit('connect')
  assert.equal(socketOf(scene), scene.returned)
  assert.deepEqual(addressesOf(scene), [A])
})

test('sequence: the next address is tried only after the one before has failed, in the given order', () => {
  const scene = begin({ lookup: answering(A, B, C) })
  assert.equal(scene.sockets.length, 1)
  scene.sockets[0]!.refuse()
  assert.equal(scene.sockets.length, 2)
  scene.sockets[1]!.refuse('EHOSTUNREACH')
  scene.sockets[2]!.emit('connect')
  assert.deepEqual(addressesOf(scene), [A, B, C])
  assert.equal(socketOf(scene), scene.sockets[2])
})

test('sequence: a slow address gets a second before the next one starts, and goes on', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ lookup: answering(A, B, C) })
  t.mock.timers.tick(999)
  assert.equal(scene.sockets.length, 1)
  t.mock.timers.tick(1)
  assert.deepEqual(addressesOf(scene), [A, B])
  t.mock.timers.tick(1000)
  assert.deepEqual(addressesOf(scene), [A, B, C])
  assert.ok(scene.sockets.every((socket) => !socket.destroyed))
  scene.returned.emit('connect')
  assert.equal(socketOf(scene), scene.returned)
  assert.deepEqual(
    scene.sockets.map((socket) => socket.destroyed),
    [false, true, true],
  )
})

test('sequence: a failure starts the next address at once, and its second anew', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ lookup: answering(A, B, C) })
  t.mock.timers.tick(900)
  scene.sockets[0]!.refuse()
  assert.equal(scene.sockets.length, 2)
  t.mock.timers.tick(999)
  assert.equal(scene.sockets.length, 2)
  t.mock.timers.tick(1)
  assert.equal(scene.sockets.length, 3)
})

test('sequence: an address that failed and slow ones that fail later are all listed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ lookup: answering(A, B) })
  t.mock.timers.tick(1000)
  scene.sockets[1]!.refuse()
  assert.equal(scene.answers.length, 0)
  scene.sockets[0]!.refuse('ETIMEDOUT')
  const error = errorOf(scene)
  assert.ok(error instanceof ConnectTimeoutError)
  assert.deepEqual(
    (error.cause as AddressesError).errors.map(({ address, code }) => [address, code]),
    [
      [B, 'ECONNREFUSED'],
      [A, 'ETIMEDOUT'],
    ],
  )
})

for (const policy of ['sequence', 'race'] as const) {
  test(`${policy}: the family that has won goes first for ten minutes, then the resolver's order again`, () => {
    let time = 0
    const families = new PreferredFamilies(() => time)
    const connectTo = (...given: string[]): Scene => {
      const scene = begin({ policy, families, lookup: answering(...given) })
      if (scene.sockets[0]!.address === C) scene.sockets[0]!.refuse('ENETUNREACH')
      scene.sockets.at(-1)!.emit('connect')
      return scene
    }
    assert.deepEqual(addressesOf(connectTo(C, A)), [C, A])
    time = 300_000
    assert.deepEqual(addressesOf(connectTo(C, B, A)), [B])
    time = 600_000
    assert.deepEqual(addressesOf(connectTo(C, A)), [C, A], 'a win in first place adds no time')
  })
}

test('the family that goes first is that of one host, and only as long as it wins', () => {
  const families = new PreferredFamilies()
  families.note('a.test', 4, 6)
  const order = (hostname: string): string[] =>
    families
      .order(hostname, [
        { address: C, family: 6 },
        { address: A, family: 4 },
        { address: B, family: 4 },
      ])
      .map(({ address }) => address)
  assert.deepEqual(order('a.test'), [A, B, C])
  assert.deepEqual(order('b.test'), [C, A, B])
  families.note('a.test', 6, 6)
  assert.deepEqual(order('a.test'), [C, A, B])
  for (let i = 0; i < 5000; i++) families.note(`${i}.test`, 4, 6)
  assert.deepEqual(order('4999.test'), [A, B, C])
  assert.deepEqual(order('0.test'), [C, A, B], 'the oldest are forgotten')
})

test('the error of a failed connect lists every address with its own error', () => {
  const scene = begin({ lookup: answering(A, C) })
  scene.sockets[0]!.refuse()
  scene.sockets[1]!.refuse('EHOSTUNREACH')
  const error = errorOf(scene)
  assert.ok(error instanceof AddressesError)
  assert.ok(error instanceof AggregateError)
  assert.equal(error.name, 'AggregateError')
  assert.equal(error.code, 'ECONNREFUSED')
  assert.deepEqual(
    error.errors.map(({ code, address, port, family }) => ({ code, address, port, family })),
    [
      { code: 'ECONNREFUSED', address: A, port: 80, family: 4 },
      { code: 'EHOSTUNREACH', address: C, port: 80, family: 6 },
    ],
  )
  for (const member of error.errors) assert.equal(typeof member.elapsed, 'number')
  assert.equal(error.message, '')
})

test('frozen errors are listed as they are', () => {
  const frozen: AddressError = Object.freeze(Object.assign(new Error('x'), { code: 'EPERM' }))
  const scene = begin({ lookup: answering(A, B) })
  scene.sockets[0]!.destroy(frozen)
  scene.sockets[1]!.refuse()
  const { errors } = errorOf(scene) as AddressesError
  assert.equal(errors[0], frozen)
})

test('with one address the error of the runtime is passed on as it is', () => {
  const scene = begin({ lookup: answering(A) })
  const reason = systemError('ECONNREFUSED')
  scene.returned.destroy(reason)
  assert.equal(errorOf(scene), reason)
  assert.equal('elapsed' in reason, false)
})

test('single: the runtime does the resolving', () => {
  const scene = begin({ policy: 'single', lookup: () => assert.fail('called') })
  const reason = systemError('ENOTFOUND')
  scene.returned.destroy(reason)
  assert.equal(errorOf(scene), reason)
})

test('a lookup error is passed on as it is', () => {
  const reason = systemError('ENOTFOUND')
  const { lookup, fail } = ((): { lookup: LookupFunction; fail: () => void } => {
    let given: Parameters<LookupFunction>[2]
    return {
      lookup: (_hostname, _options, callback) => {
        given = callback
      },
      fail: () => given(reason, ''),
    }
  })()
  const scene = begin({ lookup })
  fail()
  assert.equal(errorOf(scene), reason)
})

test('all addresses are asked for, with the options of the runtime; one address is taken, too', () => {
  const seen: LookupOptions[] = []
  const scene = begin({
    lookup: (_hostname, options, callback) => {
      seen.push(options)
      callback(null, A, 4)
    },
  })
  assert.deepEqual(seen, [{ family: 0, hints: 0, all: true }])
  assert.deepEqual(addressesOf(scene), [A])
})

test('without a resolver of the caller dns.lookup is called through its module', (t) => {
  const lookup = t.mock.method(dns, 'lookup', answering(B) as typeof dns.lookup)
  const scene = begin({})
  assert.equal(lookup.mock.callCount(), 1)
  assert.deepEqual(addressesOf(scene), [B])
})

test('a resolver may answer with plain strings, nonsense or nothing', () => {
  const odd = (answer: unknown): LookupFunction => {
    return (_hostname, _options, callback) => callback(null, answer as string)
  }
  assert.deepEqual(addressesOf(begin({ lookup: odd([A, B]) })), [A])
  assert.deepEqual(addressesOf(begin({ lookup: odd([null, A]), policy: 'race' })), ['undefined'])
  assert.equal(errorOf(beginLate(odd([]))).message, 'connect ERR_INVALID_IP_ADDRESS')
})

/** Answers after the socket is watched, as the runtime reports errors of a lookup. */
function beginLate(lookup: LookupFunction): Scene {
  let run = (): void => {}
  const scene = begin({
    lookup: (...args) => {
      run = () => lookup(...args)
    },
  })
  run()
  return scene
}

test('an entry that is no address costs one attempt, not the connect', () => {
  const scene = begin({ lookup: answering('nonsense', A) })
  scene.returned.destroy(Object.assign(new TypeError('Invalid IP'), { code: 'ERR_INVALID_IP_ADDRESS' }))
  scene.sockets[1]!.emit('connect')
  assert.equal(socketOf(scene), scene.sockets[1])
})

test('at most 64 addresses are tried', () => {
  const many = Array.from({ length: 100 }, (_, i) => `127.0.1.${i}`)
  const scene = begin({ lookup: answering(...many) })
  for (const socket of scene.sockets) socket.refuse()
  assert.equal(scene.sockets.length, 64)
  assert.equal((errorOf(scene) as AddressesError).errors.length, 64)
})

test('race: families alternate and each further attempt starts after the delay', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ policy: 'race', lookup: answering(C, '::2', A, B, '127.0.0.3') })
  assert.equal(scene.sockets.length, 1)
  t.mock.timers.tick(249)
  assert.equal(scene.sockets.length, 1)
  t.mock.timers.tick(1)
  assert.equal(scene.sockets.length, 2)
  for (let i = 0; i < 5; i++) t.mock.timers.tick(250)
  assert.deepEqual(addressesOf(scene), [C, A, '::2', B, '127.0.0.3'])
  assert.ok(scene.sockets.every((socket) => !socket.destroyed))
})

test('race: a slow first attempt still wins when it connects first; the others are closed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ policy: 'race', lookup: answering(A, B, C) })
  t.mock.timers.tick(250)
  scene.sockets[0]!.emit('connect')
  assert.equal(socketOf(scene), scene.returned)
  assert.equal(scene.sockets[1]!.destroyed, true)
  t.mock.timers.tick(1000)
  assert.equal(scene.sockets.length, 2)
})

test('race: a failure starts the next attempt at once and the delay anew', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ policy: 'race', lookup: answering(A, B, '127.0.0.3') })
  t.mock.timers.tick(200)
  scene.sockets[0]!.refuse()
  assert.equal(scene.sockets.length, 2)
  t.mock.timers.tick(249)
  assert.equal(scene.sockets.length, 2)
  t.mock.timers.tick(1)
  assert.equal(scene.sockets.length, 3)
})

test('race: one of several running attempts may fail', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ policy: 'race', lookup: answering(A, B) })
  t.mock.timers.tick(250)
  scene.sockets[1]!.refuse()
  assert.equal(scene.answers.length, 0)
  scene.sockets[0]!.refuse()
  assert.equal((errorOf(scene) as AddressesError).errors.length, 2)
})

test('race: the delay is at least 10 ms (RFC 8305 section 5)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ policy: 'race', attemptDelay: -1, lookup: answering(A, B) })
  t.mock.timers.tick(9)
  assert.equal(scene.sockets.length, 1)
  t.mock.timers.tick(1)
  assert.equal(scene.sockets.length, 2)
})

test('race over TLS is won by reaching the address; the handshake comes after', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ policy: 'race', readyEvent: 'secureConnect', lookup: answering(A, B) })
  t.mock.timers.tick(250)
  scene.sockets[1]!.emit('connect')
  assert.equal(scene.sockets[0]!.destroyed, true)
  assert.equal(scene.answers.length, 0)
  scene.sockets[1]!.emit('secureConnect')
  assert.equal(socketOf(scene), scene.sockets[1])
})

test('a TLS failure is final: the address was reached', () => {
  const scene = begin({ readyEvent: 'secureConnect', lookup: answering(A, B) })
  const reason = systemError('ECONNRESET')
  scene.sockets[0]!.emit('connect')
  scene.sockets[0]!.destroy(reason)
  assert.equal(errorOf(scene), reason)
  assert.equal(scene.sockets.length, 1)
})

test('interleaving keeps the order within a family', () => {
  const of = (...list: string[]): LookupAddress[] =>
    list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  assert.deepEqual(interleaveFamilies([]), [])
  assert.deepEqual(interleaveFamilies(of(A, C, '::2', '::3', B)), of(A, C, B, '::2', '::3'))
})

function expire(t: TestContext, milliseconds = 1000): Promise<void> {
  t.mock.timers.tick(milliseconds)
  return settled()
}

test('timeout: one address', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ timeout: 1000, lookup: answering(A) })
  await expire(t)
  const error = errorOf(scene)
  assert.ok(error instanceof ConnectTimeoutError)
  assert.equal(error.message, 'Connect Timeout Error (attempted address: host.test:80, timeout: 1000ms)')
  assert.equal('cause' in error, false)
  assert.equal(scene.returned.reason, error)
})

test('timeout: several addresses are listed, those that failed are the cause', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ timeout: 900, lookup: answering(C, A, B) })
  scene.sockets[0]!.refuse()
  await expire(t, 900)
  const error = errorOf(scene)
  assert.equal(error.message, `Connect Timeout Error (attempted addresses: ${C}:80, ${A}:80, timeout: 900ms)`)
  assert.ok(error.cause instanceof AddressesError)
  assert.equal(scene.sockets[1]!.destroyed, true)
})

test('timeout: the list of the runtime is taken if there is one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ timeout: 1000, policy: 'single' })
  Object.assign(scene.returned, { autoSelectFamilyAttemptedAddresses: ['a:1', 'b:2'] })
  await expire(t)
  assert.equal(
    errorOf(scene).message,
    'Connect Timeout Error (attempted addresses: a:1, b:2, timeout: 1000ms)',
  )
})

test('timeout: a race is ended whole', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ timeout: 1000, policy: 'race', lookup: answering(A, B, C) })
  await expire(t)
  assert.ok(errorOf(scene) instanceof ConnectTimeoutError)
  assert.ok(scene.sockets.length > 1)
  assert.ok(scene.sockets.every((socket) => socket.destroyed))
})

test('a runtime error that aggregates ETIMEDOUT becomes a ConnectTimeoutError', () => {
  for (const reason of [
    Object.assign(new AggregateError([]), { code: 'ETIMEDOUT' }),
    Object.assign(new AggregateError([systemError('ECONNREFUSED'), systemError('ETIMEDOUT')]), {
      code: 'ECONNREFUSED',
    }),
  ]) {
    const scene = begin({ policy: 'single', timeout: 0 })
    scene.returned.destroy(reason)
    const error = errorOf(scene)
    assert.ok(error instanceof ConnectTimeoutError)
    assert.equal(error.cause, reason)
  }
})

test('so does a connect of ours of which one address timed out', () => {
  const scene = begin({ lookup: answering(A, B) })
  scene.sockets[0]!.refuse()
  scene.sockets[1]!.refuse('ETIMEDOUT')
  const error = errorOf(scene)
  assert.ok(error instanceof ConnectTimeoutError)
  assert.ok(error.cause instanceof AddressesError)
})

test('other aggregates and a plain ETIMEDOUT stay as they are', () => {
  for (const reason of [new AggregateError([null, systemError('ECONNREFUSED')]), systemError('ETIMEDOUT')]) {
    const scene = begin({ policy: 'single' })
    scene.returned.destroy(reason)
    assert.equal(errorOf(scene), reason)
  }
})

test('destroying the returned socket ends the connect', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = begin({ policy: 'race', lookup: answering(A, B) })
  t.mock.timers.tick(250)
  scene.returned.destroy()
  assert.equal(errorOf(scene).name, 'AbortError')
  assert.equal(scene.sockets[1]!.destroyed, true)
})

test('destroying it with an error ends it with that error, not with the next address', () => {
  const scene = begin({ lookup: answering(A, B) })
  const reason = new Error('enough')
  scene.returned.destroy(reason)
  assert.equal(errorOf(scene), reason)
  assert.equal(scene.sockets.length, 1)
})

test('to abandon a connect also ends attempts on later addresses', () => {
  const scene = begin({ lookup: answering(A, B) })
  scene.sockets[0]!.refuse()
  const reason = new Error('enough')
  assert.deepEqual(scene.details.pending?.abandon(reason), [scene.sockets[1]])
  assert.equal(errorOf(scene), reason)
  assert.equal(scene.sockets[1]!.destroyed, true)
})

test('a connect that is decided cannot be abandoned', () => {
  const failed = begin({ lookup: answering(A) })
  failed.sockets[0]!.refuse()
  assert.equal(failed.details.pending, null)
  const connected = begin({ lookup: answering(A) })
  assert.equal(connected.details.reachedAt, null)
  connected.returned.emit('connect')
  assert.equal(connected.details.pending, null)
  assert.equal(typeof connected.details.reachedAt, 'number')
})

test('an answer of the resolver after the end is not used', () => {
  const { lookup, answer } = lateLookup()
  const scene = begin({ lookup, policy: 'race' })
  scene.returned.destroy()
  answer(A, B)
  assert.equal(scene.answers.length, 1)
  assert.equal(scene.sockets.length, 1)
})

test('after the answer no listener of ours is left but one that keeps errors from being fatal', () => {
  const scene = begin({ lookup: answering(A, B), readyEvent: 'secureConnect' })
  scene.returned.emit('connect')
  scene.returned.emit('secureConnect')
  for (const name of ['connect', 'secureConnect', 'close']) {
    assert.equal(scene.returned.listenerCount(name), 0)
  }
  scene.returned.emit('error', new Error('later'))
  scene.returned.emit('connect')
  assert.equal(scene.answers.length, 1)
})

test('what open throws first is thrown on; thrown later it is the error of that address', () => {
  const reason = new Error('bad option')
  const unopened: Partial<AttemptOptions> = {
    timeout: 1000,
    open: () => {
      throw reason
    },
  }
  assert.throws(() => begin(unopened), reason)

  let opened = 0
  const first = new ScriptedSocket()
  const scene = begin({
    lookup: answering(A, B, C),
    open: (lookup) => {
      if (opened++ > 0) throw systemError('EMFILE')
      lookup?.('host.test', {}, () => {})
      return first as unknown as Socket
    },
  })
  first.refuse()
  assert.deepEqual(
    (errorOf(scene) as AddressesError).errors.map((error) => error.code),
    ['ECONNREFUSED', 'EMFILE', 'EMFILE'],
  )
})

test('later attempts resolve to their own address, in either shape', () => {
  const shapes: unknown[] = []
  const first = new ScriptedSocket()
  let opened = 0
  const open = (lookup: LookupFunction | null): Socket => {
    if (opened++ === 0) {
      lookup!('host.test', {}, () => {})
      return first as unknown as Socket
    }
    lookup!('host.test', { all: true }, (_error, address) => shapes.push(address))
    lookup!('host.test', {}, (_error, address, family) => shapes.push([address, family]))
    return new ScriptedSocket() as unknown as Socket
  }
  begin({ lookup: answering(A, C), open })
  first.refuse()
  assert.deepEqual(shapes, [[{ address: C, family: 6 }], [C, 6]])
})

test('a lookup that drops its callback ends in a timeout even if nobody holds the socket', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answers: Answer[] = []
  const socket = beginUnheld(answers)
  for (let i = 0; i < 20 && socket.deref() !== undefined; i++) {
    await settled()
    collect()
  }
  assert.equal(socket.deref(), undefined)
  await expire(t)
  assert.equal(answers.length, 1)
  assert.equal(
    answers[0]![0]?.message,
    'Connect Timeout Error (attempted address: host.test:80, timeout: 1000ms)',
  )
})

function beginUnheld(answers: Answer[]): WeakRef<object> {
  const options: AttemptOptions = {
    hostname: 'host.test',
    port: 80,
    policy: 'sequence',
    lookup: () => {},
    attemptDelay: 250,
    families: new PreferredFamilies(),
    timeout: 1000,
    readyEvent: 'connect',
    details: null,
    open: () => new ScriptedSocket() as unknown as Socket,
  }
  return new WeakRef(AddressAttempts.start(options, (...args) => void answers.push(args)))
}
