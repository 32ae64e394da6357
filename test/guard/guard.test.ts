/** The rules of a guard, without any connection. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blockedError, type Guard, readGuard } from '../../src/guard/guard.ts'
import type { GuardOptions, GuardPolicy, GuardTarget } from '../../src/guard/options.ts'
import { placeOf, placeOfAuthority, placeOfSent } from '../../src/guard/place.ts'
import { errors } from '../../src/index.ts'

const guard = (options: GuardPolicy | GuardOptions): Guard => readGuard(options)!
const ruleFor = (made: Guard, host: string, port: string | number = 80): string | null =>
  made.refuseHost(host, port)?.rule ?? null
const admitted = (made: Guard, name: string, ...addresses: string[]): string[] =>
  made
    .admit(
      name,
      80,
      addresses.map((address) => ({ address })),
    )
    .admitted.map(({ address }) => address)

describe('options', () => {
  test('none is no guard', () => {
    assert.equal(readGuard(undefined), null)
    assert.equal(readGuard(null), null)
  })

  for (const [given, message] of [
    [true, "guard must be 'public-only', 'any' or an object"],
    [false, "guard must be 'public-only', 'any' or an object"],
    [[], "guard must be 'public-only', 'any' or an object"],
    ['private', "policy of a guard must be 'public-only' or 'any'"],
    [{ policy: 'none' }, "policy of a guard must be 'public-only' or 'any'"],
    [{ denny: ['10.0.0.0/8'] }, 'unknown option of a guard: denny'],
    [{ schemes: ['https'] }, 'unknown option of a guard: schemes'],
    [{ deny: '10.0.0.0/8' }, 'deny of a guard must be an array'],
    [{ allow: ['10.0.0.0/33'] }, 'invalid entry in allow of a guard: 10.0.0.0/33'],
    [{ deny: ['10.*'] }, 'invalid entry in deny of a guard: 10.*'],
    [{ deny: ['10.1'] }, 'invalid entry in deny of a guard: 10.1'],
    [{ deny: ['*'] }, 'invalid entry in deny of a guard: *'],
    [{ deny: [''] }, 'invalid entry in deny of a guard: '],
    [{ deny: ['http://x.test'] }, 'invalid entry in deny of a guard: http://x.test'],
    [{ deny: ['http://u:s3cret@x.test/?key=s3cret'] }, 'invalid entry in deny of a guard: http://x.test/'],
    [{ deny: ['u:s3cret@x.test'] }, 'invalid entry in deny of a guard: x.test'],
    [{ deny: ['x.test:0'] }, 'invalid entry in deny of a guard: x.test:0'],
    [{ deny: ['x.test:65536'] }, 'invalid entry in deny of a guard: x.test:65536'],
    [{ hosts: [7] }, 'invalid entry in hosts of a guard: 7'],
    [{ ports: 80 }, 'ports of a guard must be an array of port numbers'],
    [{ ports: ['80'] }, 'ports of a guard must be an array of port numbers'],
    [{ ports: [0] }, 'ports of a guard must be an array of port numbers'],
    [{ check: 'x' }, 'check of a guard must be a function'],
    [{ strict: 1 }, 'strict of a guard must be a boolean'],
    [{ resolve: 'yes' }, 'resolve of a guard must be a boolean'],
  ] as const) {
    test(`refuses ${JSON.stringify(given)}`, () => {
      assert.throws(() => readGuard(given as never), { name: 'InvalidArgumentError', message })
    })
  }

  test('inherited options do not count', () => {
    const prototype = Object.prototype as Record<string, unknown>
    prototype['policy'] = 'any'
    prototype['allow'] = ['127.0.0.1']
    try {
      assert.equal(ruleFor(guard({}), '127.0.0.1'), 'loopback')
    } finally {
      delete prototype['policy']
      delete prototype['allow']
    }
  })
})

describe('lists', () => {
  test('allow makes exceptions from the policy, by address, block, range and port', () => {
    const made = guard({
      allow: ['10.1.0.0/16', '127.0.0.1:8080', '192.168.0.5-192.168.0.7', '[fd00::1]:443'],
    })
    assert.equal(ruleFor(made, '10.1.2.3'), null)
    assert.equal(ruleFor(made, '10.2.2.3'), 'private')
    assert.equal(ruleFor(made, '127.0.0.1', 8080), null)
    assert.equal(ruleFor(made, '127.0.0.1', '8080'), null)
    assert.equal(ruleFor(made, '127.0.0.1', 80), 'loopback')
    assert.equal(ruleFor(made, '192.168.0.6'), null)
    assert.equal(ruleFor(made, '192.168.0.8'), 'private')
    assert.equal(ruleFor(made, 'fd00::1', 443), null)
    assert.equal(ruleFor(made, 'fd00::1', 80), 'private')
  })

  test('a mapped address is a spelling of the IPv4 address, other forms are not', () => {
    const made = guard({ allow: ['10.1.0.0/16'] })
    assert.equal(ruleFor(made, '::ffff:10.1.2.3'), null)
    assert.equal(ruleFor(made, '64:ff9b::10.1.2.3'), 'private')
    assert.equal(ruleFor(made, '2002:0a01:0203::'), '6to4')
  })

  test('an entry in the mapped form means the IPv4 addresses', () => {
    for (const entry of [
      '::ffff:10.0.0.1',
      '[::ffff:a00:1]',
      '::ffff:10.0.0.0/104',
      '::ffff:10.0.0.0-::ffff:10.0.0.9',
    ]) {
      const denying = guard({ policy: 'any', deny: [entry] })
      const allowing = guard({ allow: [entry] })
      for (const address of ['10.0.0.1', '::ffff:10.0.0.1']) {
        assert.equal(ruleFor(denying, address), 'deny', entry)
        assert.equal(ruleFor(allowing, address), null, entry)
      }
      assert.equal(ruleFor(denying, '11.0.0.1'), null, entry)
      assert.equal(ruleFor(allowing, '127.0.0.1'), 'loopback', entry)
    }
    for (const entry of ['::/0', '::ffff:0:0/96', '::-::ffff:10.0.0.9', '::ffff:10.0.0.0-::1:0:0:1']) {
      assert.equal(ruleFor(guard({ policy: 'any', deny: [entry] }), '10.0.0.1'), null, entry)
      assert.equal(ruleFor(guard({ allow: [entry] }), '10.0.0.1'), 'private', entry)
    }
  })

  test('an allowed name may lead anywhere, and only that name', () => {
    const made = guard({ allow: ['files.example', '*.below.example', '.zone.example'] })
    assert.deepEqual(admitted(made, 'files.example', '10.0.0.1'), ['10.0.0.1'])
    assert.deepEqual(admitted(made, 'FILES.example.', '10.0.0.1'), ['10.0.0.1'])
    assert.deepEqual(admitted(made, 'x.files.example', '10.0.0.1'), [])
    assert.deepEqual(admitted(made, 'xfiles.example', '10.0.0.1'), [])
    assert.deepEqual(admitted(made, 'a.below.example', '10.0.0.1'), ['10.0.0.1'])
    assert.deepEqual(admitted(made, 'below.example', '10.0.0.1'), [])
    assert.deepEqual(admitted(made, 'zone.example', '10.0.0.1'), ['10.0.0.1'])
    assert.deepEqual(admitted(made, 'a.b.zone.example', '10.0.0.1'), ['10.0.0.1'])
    assert.equal(ruleFor(made, '10.0.0.1'), 'private')
  })

  test('deny wins over allow and over every policy, also for addresses inside addresses', () => {
    const made = guard({
      policy: 'any',
      allow: ['10.0.0.0/8', 'ok.example'],
      deny: ['10.0.0.0/8', 'evil.example', '[::1]'],
    })
    for (const address of [
      '10.0.0.1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      '64:ff9b:1::10.0.0.1',
      '::1',
    ]) {
      assert.equal(ruleFor(made, address), 'deny', address)
    }
    assert.equal(made.refuseHost('evil.example', 80)?.entry, 'evil.example')
    assert.equal(ruleFor(made, 'EVIL.example.'), 'deny')
    assert.deepEqual(admitted(made, 'ok.example', '10.0.0.1', '127.0.0.1'), ['127.0.0.1'])
  })

  test('hosts are the only ones that may be asked for, and the policy still applies to their addresses', () => {
    const made = guard({ hosts: ['api.example', '93.184.216.0/24'] })
    assert.equal(ruleFor(made, 'api.example'), null)
    assert.deepEqual(admitted(made, 'api.example', '8.8.8.8', '127.0.0.1'), ['8.8.8.8'])
    assert.equal(ruleFor(made, 'www.example'), 'hosts')
    assert.equal(ruleFor(made, '93.184.216.34'), null)
    assert.equal(ruleFor(made, '8.8.8.8'), 'hosts')
    assert.equal(ruleFor(guard({ hosts: [] }), 'api.example'), 'hosts')
  })

  test('names of any script are compared in the form of DNS', () => {
    assert.equal(ruleFor(guard({ deny: ['bücher.example'] }), 'xn--bcher-kva.example'), 'deny')
  })
})

describe('ports', () => {
  test('public-only refuses those of other services, also in the spellings that the runtime reads', () => {
    const made = guard('public-only')
    for (const port of [22, '22', '0x16', ' 22', '22.0', 25, 6000, 6667, 0]) {
      assert.equal(ruleFor(made, '8.8.8.8', port), 'bad-port', String(port))
    }
    for (const port of [80, 443, 8080, 9200, 65_535]) assert.equal(ruleFor(made, '8.8.8.8', port), null)
    assert.equal(ruleFor(guard('any'), '8.8.8.8', 22), null)
  })

  test('an exception for an address is none for the port', () => {
    assert.equal(ruleFor(guard({ allow: ['10.0.0.1:22'] }), '10.0.0.1', 22), 'bad-port')
  })

  test('ports are the only ones that may be used', () => {
    const made = guard({ ports: [443, 6000] })
    assert.equal(ruleFor(made, 'x.example', 443), null)
    assert.equal(ruleFor(made, 'x.example', 6000), null)
    assert.equal(ruleFor(made, 'x.example', 80), 'ports')
    assert.equal(ruleFor(made, 'x.example', 'x'), 'ports')
    assert.equal(ruleFor(made, '127.0.0.1', 443), 'loopback')
  })
})

describe('check', () => {
  test('is asked last, with the address, and can only refuse', () => {
    const seen: GuardTarget[] = []
    const made = guard({
      check: (target) => {
        seen.push(target)
        return target.address !== '8.8.4.4'
      },
    })
    assert.deepEqual(admitted(made, 'x.example', '8.8.8.8', '127.0.0.1', '8.8.4.4', '2606:4700::1'), [
      '8.8.8.8',
      '2606:4700::1',
    ])
    assert.deepEqual(seen, [
      { hostname: 'x.example', address: '8.8.8.8', family: 4, port: 80 },
      { hostname: 'x.example', address: '8.8.4.4', family: 4, port: 80 },
      { hostname: 'x.example', address: '2606:4700::1', family: 6, port: 80 },
    ])
    assert.equal(ruleFor(made, '8.8.4.4'), 'check')
    assert.equal(ruleFor(made, '127.0.0.1'), 'loopback')
    assert.deepEqual(made.refuseName('y.example', 80), null)
    assert.deepEqual(seen.at(-1), { hostname: 'y.example', address: null, family: 0, port: 80 })
  })

  test('anything but true refuses: a promise, a truthy value, an exception', async () => {
    for (const check of [
      async () => true,
      async () => Promise.reject(new Error('stray')),
      () => 'yes',
      () => undefined,
      () => {
        throw new Error('broken')
      },
    ]) {
      const refusal = guard({ check: check as never }).refuseHost('8.8.8.8', 80)
      assert.equal(refusal?.rule, 'check')
      assert.ok(refusal?.cause instanceof Error)
    }
    // Stray rejections would be seen by the runtime now.
    await new Promise((resolve) => setImmediate(resolve))
  })
})

describe('addresses of a name', () => {
  test('only the allowed ones are used; in strict mode, none if one is refused', () => {
    const mixed = ['8.8.8.8', '10.0.0.1', '2606:4700::1', 'fe80::1%eth0']
    assert.deepEqual(admitted(guard('public-only'), 'x.example', ...mixed), ['8.8.8.8', '2606:4700::1'])
    const strict = guard({ strict: true })
    assert.deepEqual(admitted(strict, 'x.example', ...mixed), [])
    assert.deepEqual(admitted(strict, 'x.example', '8.8.8.8'), ['8.8.8.8'])
    assert.deepEqual(
      strict.admit('x.example', 443, [{ address: '8.8.8.8' }, { address: '10.0.0.1' }]).refusal,
      { rule: 'private', entry: '10.0.0.0/8', hostname: 'x.example', address: '10.0.0.1', port: 443 },
    )
  })

  test('an answer that is not an address is refused, with any policy', () => {
    for (const text of ['', '127.1', '0x7f.1', 'localhost', '2130706433', '1.2.3.4.5', 'undefined']) {
      const { admitted: left, refusal } = guard('any').admit('x.example', 80, [{ address: text }])
      assert.deepEqual([left.length, refusal?.rule], [0, 'invalid-address'], text)
    }
  })
})

describe('names that others resolve', () => {
  const made = guard('public-only')

  for (const name of [
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'localhost..',
      'a.localhost',
      'localhost.localdomain',
      'printer.local',
    ],
    ...[
      'metadata.google.internal',
      'metadata.google.internal.',
      'internal',
      'nas.home.arpa',
      'metadata',
      'db',
      'ip6-localhost',
    ],
  ]) {
    test(`${name} is local`, () => assert.equal(made.refuseName(name, 80)?.rule, 'local-name'))
  }

  for (const name of ['127.1', '0x7f.1', '2130706433', '017700000001', '0x7f000001', 'x.0', '1.2.3.4.']) {
    test(`${name} may be read as an address`, () => {
      assert.ok(['invalid-address', 'loopback'].includes(made.refuseName(name, 80)!.rule))
    })
  }

  test('public names pass, and so do local ones that are allowed or with any policy', () => {
    for (const name of [
      'example.com',
      'localhost.example.com',
      'internal.example.com',
      '127.0.0.1.nip.io',
      '1e100.net',
    ]) {
      assert.equal(made.refuseName(name, 80), null, name)
    }
    assert.equal(guard({ allow: ['db', '.internal'] }).refuseName('db', 80), null)
    assert.equal(guard({ allow: ['db', '.internal'] }).refuseName('x.internal', 80), null)
    assert.equal(guard('any').refuseName('localhost', 80), null)
  })

  test('literals are checked as addresses', () => {
    assert.equal(made.refuseName('10.0.0.1', 80)?.rule, 'private')
    assert.equal(made.refuseName('fe80::1%eth0', 80)?.rule, 'link-local')
    assert.equal(made.refuseName('8.8.8.8', 80), null)
  })
})

describe('places', () => {
  test('only a URL with one reading has one', () => {
    assert.deepEqual(placeOfSent('http://x.example:8080/a?b'), {
      protocol: 'http:',
      hostname: 'x.example',
      port: 8080,
    })
    assert.deepEqual(placeOfSent('http://x.example:80/'), {
      protocol: 'http:',
      hostname: 'x.example',
      port: 80,
    })
    assert.deepEqual(placeOfSent('https://[::1]'), { protocol: 'https:', hostname: '::1', port: 443 })
    for (const text of [
      'http://x.example\\@127.0.0.1/',
      'http://x.example@127.0.0.1/',
      'http://127.0.0.1:80@x.example/',
      'http://x.example:80:90/',
      'http:/x.example/',
      'http:x.example',
      'http:\\\\x.example\\',
      'http://x.exa\tmple/',
      'http://0x7f.1/',
      'http://127.1/',
      'http://①②⑦.0.0.1/',
      'http://x.example:080/',
      'http://%6cocalhost/',
      'nothing',
    ]) {
      assert.equal(placeOfSent(text), null, text)
    }
  })

  test('of a CONNECT request', () => {
    assert.deepEqual(placeOfAuthority('x.example:443'), {
      protocol: 'http:',
      hostname: 'x.example',
      port: 443,
    })
    assert.equal(placeOfAuthority('[::1]:443')?.hostname, '::1')
    assert.equal(placeOfAuthority('0x7f.1:443')?.hostname, '127.0.0.1')
    for (const text of ['x.example', 'a@b:1', 'a:1:2', 'a/b:1', '::1:443', '', ':1', 'a\\b:1']) {
      assert.equal(placeOfAuthority(text), null, text)
    }
  })

  test('of an origin', () => {
    assert.deepEqual(placeOf('http://user@127.1'), { protocol: 'http:', hostname: '127.0.0.1', port: 80 })
    assert.equal(placeOf('http://'), null)
  })
})

test('a Unix socket is part of this machine', () => {
  assert.equal(guard('public-only').refuseSocketPath('/run/x.sock')?.rule, 'socket-path')
  assert.equal(guard('any').refuseSocketPath('/run/x.sock'), null)
})

test('the error names the rule, and its message not the address', () => {
  const error = blockedError(guard('public-only').refuseHost('10.0.0.1', 443)!)
  assert.ok(error instanceof errors.BlockedAddressError)
  assert.ok(error instanceof errors.UndiciError)
  assert.equal(error.message, 'Blocked by the guard: private')
  const { name, code, rule, entry, hostname, address, port, retrySafety } = error
  assert.deepEqual(
    { name, code, rule, entry, hostname, address, port, retrySafety },
    {
      name: 'BlockedAddressError',
      code: 'UND_ERR_BLOCKED_ADDRESS',
      rule: 'private',
      entry: '10.0.0.0/8',
      hostname: '10.0.0.1',
      address: '10.0.0.1',
      port: 443,
      retrySafety: 'safe',
    },
  )
})

test('a name is compared in the form that the resolver makes of it', () => {
  const made = guard({ deny: ['evil.test'] })
  for (const name of [
    'evil.test',
    'EVIL.test.',
    'ⓔvil.test',
    'ｅｖｉｌ.test',
    'evil。test',
    'evil．test．',
    'ev\u00adil.test',
  ]) {
    assert.equal(ruleFor(made, name), 'deny', name)
    assert.equal(made.refuseName(name, 80)?.rule, 'deny', name)
  }
  assert.equal(ruleFor(guard({ hosts: ['bücher.test'] }), 'BÜCHER.test'), null)
  for (const name of ['ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'metadata.google.ⓘnternal']) {
    assert.equal(guard('public-only').refuseName(name, 80)?.rule, 'local-name', name)
  }
  assert.equal(guard('public-only').refuseName('①②⑦.0.0.1', 80)?.rule, 'invalid-address')
  // Not a name in any form, which no resolver finds.
  assert.equal(guard('public-only').refuseName('ⓧ<.test', 80), null)
})
