// Which hosts a NO_PROXY list excepts. Every entry comes with URLs that it matches and URLs that it does not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NoProxyList } from '../../src/proxy/no-proxy.ts'

const ANY = [
  'http://x.test',
  'https://a.x.test:8443',
  'http://127.0.0.1',
  'http://[::1]:8080',
  'ws://localhost',
]

interface Row {
  readonly entries: readonly string[]
  readonly direct?: readonly string[]
  readonly proxied?: readonly string[]
}

function row(title: string, { entries, direct = [], proxied = [] }: Row): void {
  test(title, () => {
    for (const entry of entries) {
      const list = new NoProxyList(entry)
      for (const url of direct) assert.notEqual(list.match(new URL(url)), null, `${entry} and ${url}`)
      for (const url of proxied) assert.equal(list.match(new URL(url)), null, `${entry} and ${url}`)
    }
  })
}

row('a star excepts everything', { entries: ['*', ' * ', 'a,*'], direct: ANY })

row('a star with a port excepts that port', {
  entries: ['*:443'],
  direct: ['https://x.test', 'http://x.test:443', 'wss://[::1]'],
  proxied: ['http://x.test', 'https://x.test:8443'],
})

row('a name excepts the host and its subdomains, in any case and with a dot at the end', {
  entries: ['x.test', 'X.Test', 'x.test.'],
  direct: ['http://x.test', 'https://x.test.', 'http://a.x.test', 'http://a.b.X.TEST:8080'],
  proxied: ['http://xx.test', 'http://x.test.evil.test', 'http://test'],
})

row('a dot at the beginning changes nothing', {
  entries: ['.x.test', '.x.test.'],
  direct: ['http://x.test', 'http://a.x.test'],
  proxied: ['http://xx.test'],
})

row('a star label excepts only subdomains', {
  entries: ['*.x.test', '*.X.test.'],
  direct: ['http://a.x.test', 'http://a.b.x.test', 'http://a.x.test.'],
  proxied: ['http://x.test', 'http://ax.test'],
})

row('other wildcards, URLs, paths and placeholders except nothing', {
  entries: [
    '*x.test',
    'x.*',
    'http://x.test',
    'x.test/p',
    '.',
    '*.',
    '..x.test',
    '<local>',
    'user@x.test',
    'x.test:',
    'x.test:http',
    'x.test:80:80',
    ':80',
    '[x.test]',
    '%78.test',
  ],
  proxied: [...ANY, 'http://x.test../'],
})

row('a port limits an entry, and the default port of the protocol counts', {
  entries: ['x.test:80', '.x.test:080'],
  direct: ['http://x.test', 'https://x.test:80', 'ws://a.x.test'],
  proxied: ['https://x.test', 'http://x.test:8080', 'wss://x.test'],
})

row('a top-level name excepts everything below it', {
  entries: ['test'],
  direct: ['http://x.test', 'http://test'],
  proxied: ['http://x.example'],
})

row('an IPv4 address excepts itself in every spelling of a URL, and no name', {
  entries: ['127.0.0.1'],
  direct: [
    'http://127.0.0.1',
    'http://127.1:8080',
    'http://0x7f.1',
    'http://2130706433',
    'http://127.0.0.1.',
    'http://[::ffff:127.0.0.1]',
  ],
  proxied: ['http://localhost', 'http://127.0.0.2', 'http://[::1]', 'http://[::ffff:127.0.0.2]'],
})

row('localhost is a name like others, without its addresses', {
  entries: ['localhost'],
  direct: ['http://localhost', 'http://a.localhost:3000'],
  proxied: ['http://127.0.0.1', 'http://[::1]'],
})

row('an empty list excepts nothing, not even loopback', {
  entries: ['', ' ', ',', ' ,\t,\n'],
  proxied: [...ANY, 'http://localhost'],
})

row('the end of an IP address is not a domain', {
  entries: ['0.0.1', '.0.0.1', '*.0.0.1', '1'],
  proxied: ['http://127.0.0.1', 'http://10.0.0.1', 'http://0.0.0.1'],
})

row('an IPv6 address excepts any port, with and without brackets', {
  entries: ['::1', '[::1]'],
  direct: ['http://[::1]', 'https://[::1]:8443', 'http://[0:0::1]:80'],
  proxied: ['http://[::2]', 'http://127.0.0.1', 'http://localhost'],
})

row('an IPv6 address in brackets may have a port', {
  entries: ['[::1]:80'],
  direct: ['http://[::1]', 'https://[::1]:80'],
  proxied: ['http://[::1]:8080', 'https://[::1]'],
})

row('IPv6 addresses are compared by value', {
  entries: ['0:0:0:0:0:0:0:1', '0000::0001', '::0.0.0.1'],
  direct: ['http://[::1]'],
  proxied: ['http://[::2]'],
})

row('an IPv4-mapped address is the IPv4 address', {
  entries: ['::ffff:127.0.0.1', '::FFFF:7f00:1'],
  direct: ['http://[::ffff:7f00:1]', 'http://[::ffff:127.0.0.1]', 'http://127.0.0.1'],
  proxied: ['http://[::1]', 'http://127.0.0.2'],
})

row('a block excepts the addresses with its prefix', {
  entries: ['127.0.0.0/8', '127.255.0.1/8'],
  direct: ['http://127.0.0.1', 'http://127.255.255.255:8080', 'http://[::ffff:127.1.2.3]'],
  proxied: ['http://128.0.0.1', 'http://126.255.255.255', 'http://localhost', 'http://[::1]'],
})

row('a block of IPv6 addresses', {
  entries: ['fe80::/10', '[fe80::]/10'],
  direct: ['http://[fe80::1]', 'http://[febf:ffff::]:8080'],
  proxied: ['http://[fec0::1]', 'http://254.128.0.1'],
})

row('a block may have a port', {
  entries: ['10.0.0.0/8:80', '10.0.0.0/08:80'],
  direct: ['http://10.1.2.3'],
  proxied: ['https://10.1.2.3'],
})

row('the block with all addresses of a family', {
  entries: ['0.0.0.0/0'],
  direct: ['http://127.0.0.1', 'http://200.0.0.1'],
  proxied: ['http://[::1]', 'http://x.test'],
})

row('a block that cannot be one excepts nothing', {
  entries: [
    '127.0.0.0/33',
    '127.0.0.0/',
    '127.0.0.0/-1',
    '127.0.0.0/8/8',
    '127.0.0.0/x',
    '::/129',
    'x.test/8',
    '/8',
  ],
  proxied: ['http://127.0.0.0', 'http://127.0.0.1', 'http://[::]', 'http://x.test'],
})

row('a range excepts its addresses, both ends included', {
  entries: ['127.0.0.1-127.0.0.9'],
  direct: ['http://127.0.0.1', 'http://127.0.0.5', 'http://127.0.0.9:8080'],
  proxied: ['http://127.0.0.0', 'http://127.0.0.10', 'http://[::1]', 'http://localhost'],
})

row('a range of IPv6 addresses', {
  entries: ['::1-::ff', '[::1]-[::ff]'],
  direct: ['http://[::1]', 'http://[::a]', 'http://[::ff]'],
  proxied: ['http://[::]', 'http://[::1:0]', 'http://127.0.0.1'],
})

row('a range that cannot be one excepts nothing', {
  entries: [
    '127.0.0.9-127.0.0.1',
    '127.0.0.1-::1',
    '127.0.0.1-',
    '127.0.0.1-127.0.0.3-127.0.0.9',
    '127.0.0.1-9',
  ],
  proxied: ['http://127.0.0.1', 'http://127.0.0.5', 'http://[::1]'],
})

row('a hyphen in a name is not a range', { entries: ['my-host.test'], direct: ['http://my-host.test'] })

row('a name in Unicode is compared in its ASCII form', {
  entries: ['bücher.test', 'BÜCHER.test', '.bücher.test', 'xn--bcher-kva.test'],
  direct: ['http://bücher.test', 'http://xn--bcher-kva.test', 'http://a.bücher.test'],
  proxied: ['http://bucher.test'],
})

test('an entry is reported as it is in the list, the first that applies', () => {
  const list = new NoProxyList('a.test, B.Test:80\tb.test\n127.0.0.0/8')
  assert.equal(list.match(new URL('http://b.test')), 'B.Test:80')
  assert.equal(list.match(new URL('https://b.test')), 'b.test')
  assert.equal(list.match(new URL('https://127.0.0.1')), '127.0.0.0/8')
})

// Security row 10.
test('a zone id never makes an address a subdomain (CVE-2025-22870)', () => {
  for (const url of ['http://[::1%25.x.test]/', 'http://[::1%.x.test]/']) assert.throws(() => new URL(url))
  // A URL class that is more lenient than the one of the runtime.
  const lenient = { hostname: '[::1%25.x.test]', port: '', protocol: 'http:' } as URL
  assert.equal(new NoProxyList('::1').match(lenient), null)
  const entry = new NoProxyList('fe80::1%eth0, [fe80::1%25eth0], fe80::%eth0/10')
  assert.equal(entry.match(new URL('http://[fe80::1]')), null)
})
