// cookies.txt: the format, and that curl and a jar read what the other has written.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { CookieJar } from '../../../src/index.ts'

const NOW = Date.UTC(2026, 0, 1)
const HEAD = '# Netscape HTTP Cookie File\n'

function read(...lines: string[]): CookieJar {
  return CookieJar.fromNetscape(HEAD + lines.join('\n'), { now: () => NOW })
}

describe('cookies.txt', () => {
  test('a line for each cookie, oldest first', () => {
    const jar = new CookieJar({ now: () => NOW })
    jar.setCookie('z=1', 'https://www.example.com/a/b')
    jar.setCookie(
      'a=x y; Domain=example.com; Path=/; Secure; HttpOnly; Max-Age=60',
      'https://www.example.com/',
    )
    jar.setCookie('six=1', 'http://[::1]:8080/')
    jar.setCookie('empty=', 'http://192.0.2.7/')
    jar.setCookie('tab=a\tb', 'http://192.0.2.7/')
    const [first, , , ...lines] = jar.toNetscape().split('\n')
    assert.equal(first, '# Netscape HTTP Cookie File')
    assert.deepEqual(lines, [
      'www.example.com\tFALSE\t/a\tFALSE\t0\tz\t1',
      '#HttpOnly_.example.com\tTRUE\t/\tTRUE\t1767225660\ta\tx y',
      '::1\tFALSE\t/\tFALSE\t0\tsix\t1',
      '192.0.2.7\tFALSE\t/\tFALSE\t0\tempty\t',
      '',
    ])
    const copy = CookieJar.fromNetscape(jar.toNetscape(), { now: () => NOW })
    assert.equal(copy.getCookieHeader('http://[::1]/'), 'six=1')
    assert.equal(copy.getCookieHeader('https://x.example.com/'), 'a=x y')
    assert.equal(copy.getCookies('https://x.example.com/')[0]?.httpOnly, true)
  })

  test('is read whatever wrote it', () => {
    const jar = read(
      '',
      '# a comment',
      '#HttpOnly_www.example.com\tfalse\t/\tfalse\t1999999999.25\ta\t1\r',
      '.Example.com\ttrue\t/\tTRUE\t0\tb\t',
      'example.com\tTRUE\t/\tFALSE\t0\tc',
      '10.0.0.1\tTRUE\t/\tFALSE\t0\td\t1',
    )
    assert.equal(jar.size, 4)
    assert.equal(jar.getCookieHeader('https://www.example.com/'), 'a=1; b=; c=')
    assert.equal(jar.getCookieHeader('http://10.0.0.1/'), 'd=1')
  })

  test('what is not a cookie, or what no server could have set, is left out', () => {
    for (const line of [
      'text',
      'example.com\tTRUE\t/\tFALSE\t0',
      'example.com\tTRUE\t/\tFALSE\t0\ta\t1\t2',
      'example.com\tTRUE\t/\tFALSE\tsoon\ta\t1',
      'example.com\tTRUE\t/\tFALSE\t-1\ta\t1',
      'example.com\tTRUE\t/\tFALSE\t1\ta\t1',
      'example.com\tTRUE\tx\tFALSE\t0\ta\t1',
      'example.com\tTRUE\t/\tFALSE\t0\ta;b\t1',
      'example.com\tTRUE\t/\tFALSE\t0\t__Host-a\t1',
      `example.com\tTRUE\t/\tFALSE\t0\ta\t${'v'.repeat(4096)}`,
      'com\tTRUE\t/\tFALSE\t0\ta\t1',
      '\tTRUE\t/\tFALSE\t0\ta\t1',
      'exam ple\tTRUE\t/\tFALSE\t0\ta\t1',
      '#HttpOnly_',
    ]) {
      assert.equal(read(line).size, 0, line)
    }
  })

  test('no cookie lives longer than 400 days', () => {
    const [cookie] = read('example.com\tTRUE\t/\tFALSE\t99999999999\ta\t1')
    assert.deepEqual(cookie?.expires, new Date(NOW + 400 * 86_400_000))
  })

  test('anything but a text is refused', () => {
    const message = 'text must be a string'
    assert.throws(() => CookieJar.fromNetscape(Buffer.from('') as unknown as string), { message })
  })
})

const curl = spawnSync('curl', ['--version']).status === 0
const HOSTS = ['www.example.com', 'example.com', 'x.www.example.com', 'other.test']
const PATHS = ['/', '/set/', '/set/x', '/deep/er']
const SET_COOKIES = [
  'plain=1',
  'rooted=1; Path=/',
  'empty=; Path=/',
  'http=1; HttpOnly; Path=/; Max-Age=1000',
  'wide=1; Domain=example.com; Path=/',
  'dated=1; Expires=Fri, 01 Jan 2038 00:00:00 GMT; Path=/',
  'quoted="a b, c"; Path=/deep',
  'utf8=\u00c3\u00a9; Path=/',
  'foreign=1; Domain=other.test; Path=/',
  'suffix=1; Domain=com; Path=/',
  'secure=1; Secure; Path=/',
  'gone=1; Path=/; Max-Age=0',
]

interface Site {
  readonly folder: string
  /** Runs curl and returns the cookies that the server got, sorted: curl has other rules for their order. */
  curl(url: string, ...options: string[]): Promise<string[]>
}

function sorted(header: string): string[] {
  return header === '' ? [] : header.split('; ').sort()
}

async function startSite(t: TestContext): Promise<Site> {
  let seen = ''
  const server = http.createServer((request, response) => {
    seen = request.headers.cookie ?? ''
    if (request.url === '/set/cookies') response.setHeader('set-cookie', SET_COOKIES)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = mkdtempSync(join(tmpdir(), 'ventuno-cookies-'))
  t.after(() => {
    rmSync(folder, { recursive: true })
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    folder,
    async curl(url, ...options) {
      const whole = new URL(url)
      whole.port = String(port)
      const addresses = HOSTS.flatMap((host) => ['--resolve', `${host}:${port}:127.0.0.1`])
      // Without -q a file in the home directory decides; a proxy of the environment does not know the names.
      await promisify(execFile)('curl', ['-q', '-sS', '--noproxy', '*', ...addresses, ...options, whole.href])
      return sorted(seen)
    },
  }
}

describe('cookies.txt and curl', { skip: curl ? false : 'curl is not installed' }, () => {
  test('a jar reads the file that curl has written, and sends what curl sends', async (t) => {
    const { folder, curl: run } = await startSite(t)
    const file = join(folder, 'curl.txt')
    await run('http://www.example.com/set/cookies', '-c', file)
    const jar = CookieJar.fromNetscape(readFileSync(file, 'latin1'))
    assert.equal(jar.size, 8)
    for (const host of HOSTS) {
      for (const path of PATHS) {
        const url = `http://${host}${path}`
        assert.deepEqual(sorted(jar.getCookieHeader(url)), await run(url, '-b', file), url)
      }
    }
    assert.equal(
      jar.getCookies('http://www.example.com/').find(({ name }) => name === 'http')?.httpOnly,
      true,
    )
  })

  test('curl reads the file that a jar has written, and sends what the jar sends', async (t) => {
    const { folder, curl: run } = await startSite(t)
    const file = join(folder, 'jar.txt')
    const jar = new CookieJar()
    for (const cookie of SET_COOKIES) jar.setCookie(cookie, 'http://www.example.com/set/cookies')
    jar.setCookie('later=1; Secure; Path=/', 'https://www.example.com/')
    writeFileSync(file, jar.toNetscape(), 'latin1')
    for (const host of HOSTS) {
      for (const path of PATHS) {
        const url = `http://${host}${path}`
        assert.deepEqual(await run(url, '-b', file), sorted(jar.getCookieHeader(url)), url)
      }
    }
    // What curl writes of it is the same cookies.
    const copy = join(folder, 'copy.txt')
    await run('http://other.test/', '-b', file, '-c', copy)
    const facts = (one: CookieJar): string[] => one.toNetscape().split('\n').sort().slice(4)
    assert.deepEqual(facts(CookieJar.fromNetscape(readFileSync(copy, 'latin1'))), facts(jar))
  })
})

test('a byte order mark before the first line is skipped', () => {
  const line = 'a.test\tFALSE\t/\tFALSE\t0\tname\tvalue'
  const jar = CookieJar.fromNetscape(`\ufeff${line}\n`)
  assert.equal(jar.getCookieHeader('http://a.test/'), 'name=value')
})
