/**
 * Every form of a URL that has been used to get past such filters, through every kind of dispatcher and through fetch. The
 * server that they lead to is real and listens on loopback: it must not get a single connection.
 */
import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import type { AddressInfo, LookupFunction } from 'node:net'
import net from 'node:net'
import { after, before, describe, test } from 'node:test'
import {
  Agent,
  BalancedPool,
  Client,
  type Dispatcher,
  errors,
  fetch,
  H2CClient,
  Pool,
  RoundRobinPool,
  WebSocket,
} from '../../src/index.ts'
import { failure } from '../support/exchange.ts'

/** Hosts as they are written in a URL; the port follows. */
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  plain: ['127.0.0.1', '127.0.0.2', '127.255.255.254', '[::1]', 'localhost', 'LocalHost'],
  decimal: ['2130706433', '2130706433.'],
  octal: ['0177.0.0.1', '0177.0.0.01', '017700000001', '0177.0000.0000.0001'],
  hexadecimal: ['0x7f.0.0.1', '0x7F.0x0.0x0.0x1', '0x7f000001', '0X7F000001', '0x7f.1'],
  'zero-padded': ['127.000.000.001', '00000000177.0.0.1', '127.0.0.0x01'],
  short: ['127.1', '127.0.1', '127.1.', '0x7f.1'],
  'this network': ['0.0.0.0', '0', '0.', '0x0', '00', '0.0', '[::]', '[0:0:0:0:0:0:0:0]'],
  'longer spellings': ['[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]', '[::0.0.0.1]'],
  'IPv4 inside IPv6': [
    ...[
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::FFFF:7F00:0001]',
      '[0:0:0:0:0:ffff:127.0.0.1]',
      '[::127.0.0.1]',
    ],
    ...[
      '[::ffff:0:127.0.0.1]',
      '[64:ff9b::127.0.0.1]',
      '[64:ff9b:1::127.0.0.1]',
      '[2002:7f00:1::]',
      '[2001:0:7f00:1::]',
    ],
  ],
  'trailing dots': ['127.0.0.1.', 'localhost.', 'a.localhost.'],
  'other digits and dots': [
    '①②⑦.⓪.⓪.①',
    '１２７.０.０.１',
    '127。0。0。1',
    '127．0．0．1',
    '127｡0｡0｡1',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'ｌｏｃａｌｈｏｓｔ',
  ],
  'percent-encoding': ['%31%32%37.0.0.1', '%6c%6f%63%61%6c%68%6f%73%74', '127%2e0%2e0%2e1'],
  'user info': [
    '8.8.8.8@127.0.0.1',
    'example.com:80@127.0.0.1',
    'x:y@[::1]',
    '8.8.8.8%40x@127.0.0.1',
    'localhost:80@127.0.0.1',
  ],
  'invisible characters': ['127.0.0.1\t', '127.\n0.0.1', 'local­host', 'local​host'],
  'names that lead here': [
    '127.0.0.1.nip.test',
    'rebind.test',
    'mixed.test',
    'mapped.test',
    'scoped.test',
    'six.test',
  ],
  metadata: [
    ...[
      '169.254.169.254',
      '[fd00:ec2::254]',
      '[::ffff:169.254.169.254]',
      '2852039166',
      '0xa9fea9fe',
      '0251.0376.0251.0376',
    ],
    ...[
      '169.254.43518',
      'metadata.google.internal',
      'metadata.google.internal.',
      '168.63.129.16',
      '100.100.100.200',
    ],
  ],
  'inside the network': [
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '[fc00::1]',
    '[fe80::1]',
    '[fec0::1]',
    '198.18.0.1',
  ],
}

const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  'mixed.test': ['127.0.0.1', '10.0.0.1', '::1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'scoped.test': ['fe80::1%lo', '::1%lo'],
  'six.test': ['::1'],
  'metadata.google.internal': ['169.254.169.254'],
}

/** A test resolver: whatever the name, it leads to where nothing may get. */
const lookup: LookupFunction = (hostname, options, callback) => {
  const addresses = ANSWERS[hostname.replace(/\.$/, '')] ?? ['127.0.0.1', '::1']
  const list: LookupAddress[] = addresses.map((address) => ({ address, family: net.isIP(address) }))
  if (options.all) callback(null, list)
  else callback(null, list[0]!.address, list[0]!.family)
}

const connect = { guard: 'public-only', lookup } as const
const GET = { path: '/', method: 'GET' } as const

describe('public-only', () => {
  const servers: net.Server[] = []
  let connections = 0
  let port = 0

  before(async () => {
    for (const host of ['127.0.0.1', '127.0.0.2', '::1']) {
      const server = net.createServer((socket) => {
        connections++
        socket.on('error', () => {}).destroy()
      })
      server.on('error', () => {})
      server.listen(port, host)
      // A machine without IPv6 has nothing to reach there.
      await Promise.race([once(server, 'listening'), once(server, 'error')])
      if (!server.listening) continue
      port = (server.address() as AddressInfo).port
      servers.push(server)
    }
  })
  after(() => {
    for (const server of servers) server.close()
    assert.equal(connections, 0)
  })

  const agents = { h1: new Agent({ connect }), h2c: new Agent({ connect, useH2c: true }) }
  const race = new Agent({ connect: { ...connect, autoSelectFamily: true } })
  const first = new Agent({ connect: { ...connect, autoSelectFamily: false } })
  after(() => Promise.all([...Object.values(agents), race, first].map((agent) => agent.destroy())))

  for (const [kind, hosts] of Object.entries(HOSTS)) {
    test(kind, async () => {
      for (const host of hosts) {
        for (const scheme of ['http', 'https']) {
          const url = `${scheme}://${host.replace(/[^@]*$/, (end) => end)}:${port}/`
          const parsed = URL.canParse(url) ? new URL(url) : null
          for (const dispatcher of [agents.h1, agents.h2c, race, first]) {
            const asked =
              parsed === null
                ? fetch(url, { dispatcher })
                : dispatcher.request({ ...GET, origin: parsed.origin })
            await refused(asked, url, parsed !== null)
          }
          const bare = url.replace(/\/\/.*@/, '//')
          await refused(fetch(bare, { dispatcher: agents.h1 }), bare, URL.canParse(bare), true)
        }
      }
      assert.equal(connections, 0)
    })
  }

  async function refused(
    asked: Promise<unknown>,
    url: string,
    isUrl: boolean,
    isFetch = false,
  ): Promise<void> {
    const error = await failure(asked)
    if (!isUrl) return
    if (isFetch) assert.equal(error.message, 'fetch failed', url)
    const blocked = isFetch ? error.cause : error
    assert.ok(blocked instanceof errors.BlockedAddressError, `${url}: ${String(blocked)}`)
    assert.equal(blocked.retrySafety, 'safe')
    assert.equal(blocked.phase, 'connecting')
  }

  test('every kind of dispatcher', async () => {
    const url = `http://localhost:${port}`
    const made: Record<string, Dispatcher> = {
      Client: new Client(url, { connect }),
      'Client with pipelining': new Client(url, { connect, pipelining: 4 }),
      H2CClient: new H2CClient(url, { connect: { guard: 'public-only' } }),
      Pool: new Pool(url, { connect }),
      'Pool with one connection': new Pool(url, { connect, connections: 1 }),
      'Pool with a factory': new Pool(url, {
        connect,
        factory: (origin, options) => new Client(origin, options),
      }),
      RoundRobinPool: new RoundRobinPool(url, { connect, connections: 2 }),
      BalancedPool: new BalancedPool([url, `http://127.0.0.1:${port}`], { connect }),
      'Agent with one connection': new Agent({ connect, connections: 1 }),
      'Agent without HTTP/2': new Agent({ connect, allowH2: false }),
    }
    for (const [name, dispatcher] of Object.entries(made)) {
      // More than it has connections: those that wait settle as well.
      const all = Array.from({ length: 8 }, () => failure(dispatcher.request({ ...GET, origin: url })))
      for (const error of await Promise.all(all)) {
        assert.equal(error['code'], 'UND_ERR_BLOCKED_ADDRESS', name)
        assert.deepEqual(
          [error['rule'], error['phase'], error['retrySafety']],
          ['loopback', 'connecting', 'safe'],
          name,
        )
        assert.equal(error['method'], 'GET')
      }
      const stats = (dispatcher as Client).stats as unknown as Record<string, unknown>
      if ('pending' in stats) assert.deepEqual([stats['pending'], stats['running']], [0, 0], name)
      await dispatcher.close()
    }
    assert.equal(connections, 0)
  })

  test('WebSocket', async () => {
    for (const protocol of ['ws', 'wss']) {
      const socket = new WebSocket(`${protocol}://localhost:${port}`, { dispatcher: agents.h1 } as never)
      const [event] = (await once(socket as never, 'error')) as [{ error?: Error & { cause?: unknown } }]
      const { error } = event
      const chain = [error, error?.cause]
      assert.ok(
        chain.some((each) => each instanceof errors.BlockedAddressError),
        String(error?.stack),
      )
    }
    assert.equal(connections, 0)
  })

  test('upgrade(), connect(), stream() and pipeline()', async () => {
    const origin = `http://127.0.0.1:${port}`
    const { h1 } = agents
    for (const asked of [
      h1.upgrade({ origin, path: '/', protocol: 'x' }),
      h1.connect({ origin, path: 'example.com:443' }),
      h1.stream({ ...GET, origin }, () => assert.fail('a response')),
    ]) {
      assert.equal((await failure(asked))['code'], 'UND_ERR_BLOCKED_ADDRESS')
    }
    const pipeline = h1.pipeline({ ...GET, origin }, () => assert.fail('a response'))
    const [error] = (await once(pipeline.end(), 'error')) as [errors.BlockedAddressError]
    assert.equal(error.code, 'UND_ERR_BLOCKED_ADDRESS')
  })
})
