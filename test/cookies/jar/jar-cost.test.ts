// The cost of a cookie does not grow with the jar. Two sizes are compared by ratio, so the speed of the machine does not matter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CookieJar, type CookieJarOptions } from '../../../src/index.ts'
import { UNLESS_INSTRUMENTED } from '../../support/instrumented.ts'

const NOW = Date.UTC(2026, 0, 1)
const SMALL = 100
const LARGE = 10_000
/** Walking through the jar costs a hundred times as much in the large one; a heap about twice as much. */
const MAX_RATIO = 25

/** A run that the machine disturbed takes too long, never too short: the best of more runs is closer to the truth. */
const MAX_ROUNDS = 10

function assertSameCost(prepare: (maxCookies: number) => () => void): void {
  const small = prepare(SMALL)
  const large = prepare(LARGE)
  let bestSmall = Number.POSITIVE_INFINITY
  let bestLarge = Number.POSITIVE_INFINITY
  let ratio = Number.POSITIVE_INFINITY
  for (let round = 0; round < MAX_ROUNDS && ratio >= MAX_RATIO; round++) {
    for (let i = 0; i < 3; i++) bestSmall = Math.min(bestSmall, timeOf(small))
    bestLarge = Math.min(bestLarge, timeOf(large))
    ratio = bestLarge / bestSmall
  }
  assert.ok(ratio < MAX_RATIO, `a hundred times the jar cost ${ratio.toFixed(1)} times as much`)
}

function timeOf(work: () => void): number {
  const start = process.hrtime.bigint()
  work()
  return Number(process.hrtime.bigint() - start)
}

for (const [title, attributes] of [
  ['cookies of a session', ''],
  ['cookies that expire', '; Max-Age=60'],
] as const) {
  test(`a new cookie costs the same in a large jar that is full: ${title}`, UNLESS_INSTRUMENTED, () => {
    assertSameCost((maxCookies) => {
      let now = NOW
      let host = 0
      const jar = new CookieJar({ now: () => now, maxCookies })
      const add = () => jar.setCookie(`a=1${attributes}`, `https://h${host++}.test/`)
      while (jar.size < maxCookies) add()
      return () => {
        for (let i = 0; i < 300; i++) {
          now++
          add()
        }
        assert.equal(jar.size, maxCookies)
      }
    })
  })
}

test(
  'sending and removing the cookies of one host costs the same in a large jar',
  UNLESS_INSTRUMENTED,
  () => {
    assertSameCost((maxCookies) => {
      let now = NOW
      const jar = new CookieJar({ now: () => now, maxCookies: maxCookies + 1 })
      for (let i = 0; i < maxCookies; i++) jar.setCookie('a=1; Max-Age=60', `https://h${i}.test/`)
      return () => {
        for (let i = 0; i < 100; i++) {
          now++
          assert.equal(jar.getCookieHeader(`https://h${i}.test/`), 'a=1')
          jar.setCookie('b=1', `https://h${i}.test/`)
          assert.equal(jar.remove({ name: 'b', domain: `h${i}.test` }), 1)
          jar.setCookie('a=1; Max-Age=60', `https://h${i}.test/`)
        }
      }
    })
  },
)

test('one cookie after all have expired pays for one', UNLESS_INSTRUMENTED, () => {
  assertSameCost((maxCookies) => {
    let now = NOW
    const jars = Array.from({ length: 3 }, () => {
      const jar = new CookieJar({ now: () => NOW, maxCookies })
      for (let i = 0; i < maxCookies; i++) jar.setCookie('a=1; Max-Age=60', `https://h${i}.test/`)
      return CookieJar.fromJSON(jar.toJSON(), { now: () => now, maxCookies })
    })
    now += 60_000
    let host = 0
    return () => {
      for (const jar of jars) assert.ok(jar.setCookie('b=1', `https://new${host++}.test/`))
    }
  })
})

const COUNT = 20_000
const HOSTS: [title: string, hostOf: (i: number) => string][] = [
  ['one host each', (i) => `h${i}.test`],
  ['few hosts', (i) => `h${i % 300}.test`],
]

for (const [title, hostOf] of HOSTS) {
  test(
    `a file with more cookies than fit: its cost does not depend on the limit: ${title}`,
    UNLESS_INSTRUMENTED,
    () => {
      const lines: string[] = []
      const cookies: object[] = []
      for (let i = 0; i < COUNT; i++) {
        lines.push(`${hostOf(i)}\tFALSE\t/\tFALSE\t0\tn${i}\tv`)
        cookies.push({ ...ENTRY, name: `n${i}`, domain: hostOf(i) })
      }
      const text = lines.join('\n')
      const json = JSON.stringify({ version: 1, cookies })
      for (const read of [
        (options: CookieJarOptions) => CookieJar.fromNetscape(text, options),
        (options: CookieJarOptions) => CookieJar.fromJSON(json, options),
      ]) {
        assertSameCost((maxCookies) => () => {
          assert.equal(read({ now: () => NOW, maxCookies }).size, maxCookies)
        })
      }
    },
  )
}

const TIME = new Date(NOW - 1000).toISOString()
const ENTRY = {
  name: 'a',
  value: '1',
  domain: 'a.test',
  hostOnly: true,
  path: '/',
  secure: false,
  httpOnly: false,
  sameSite: null,
  expires: null,
  creationTime: TIME,
  lastAccessTime: TIME,
}

test('a file is cut as if its cookies had come one by one', () => {
  const at = (seconds: number) => new Date(NOW - 1000 * (1000 - seconds)).toISOString()
  const row = (name: string, domain: string, used: number, more: object = {}) => ({
    ...ENTRY,
    name,
    domain,
    lastAccessTime: at(used),
    ...more,
  })
  const cookies = [
    row('secure', 'a.test', 1, { secure: true }),
    row('old', 'a.test', 2),
    row('new', 'a.test', 9),
    row('gone', 'b.test', 9),
    row('twice', 'b.test', 5),
    row('oldest', 'c.test', 0),
    row('gone', 'b.test', 9, { expires: at(0) }),
    row('twice', 'b.test', 8, { value: '2' }),
    row('same', 'd.test', 1),
    row('same', 'e.test', 1),
  ]
  const read = (limits: CookieJarOptions) =>
    Array.from(
      CookieJar.fromJSON({ version: 1, cookies } as never, { now: () => NOW, ...limits }),
      ({ name, value, domain }) => `${name}=${value}@${domain[0]}`,
    ).join(' ')
  assert.equal(read({}), 'secure=1@a old=1@a new=1@a twice=2@b oldest=1@c same=1@d same=1@e')
  assert.equal(read({ maxCookiesPerDomain: 2 }), 'secure=1@a new=1@a twice=2@b oldest=1@c same=1@d same=1@e')
  assert.equal(read({ maxCookies: 6 }), 'secure=1@a old=1@a new=1@a twice=2@b same=1@d same=1@e')
  assert.equal(read({ maxCookies: 4 }), 'old=1@a new=1@a twice=2@b same=1@e')
  assert.equal(read({ maxCookies: 2 }), 'new=1@a twice=2@b')
  assert.equal(read({ maxCookies: 2, maxCookiesPerDomain: 1 }), 'twice=2@b same=1@e')
})

test('200,000 cookies of a file end as the last 3000', () => {
  const lines = Array.from({ length: 200_000 }, (_, i) => `h${i}.test\tFALSE\t/\tFALSE\t0\ta\t${i}`)
  const jar = CookieJar.fromNetscape(lines.join('\n'))
  assert.equal(jar.size, 3000)
  assert.equal(jar.getCookieHeader('http://h197000.test/'), 'a=197000')
  assert.equal(jar.getCookieHeader('http://h196999.test/'), '')
})

test('hosts of a file are read as URLs are', () => {
  const hosts = [
    'a.test',
    'xn--bcher-kva.test',
    'a.xn--',
    'A.test',
    'a.0x1',
    '1.2.3.4',
    '1.2.3',
    'a_b.test',
    'a b.test',
    '-a.test',
  ]
  for (const host of hosts) {
    let parsed = ''
    try {
      parsed = new URL(`http://${host}`).hostname
    } catch {}
    const cookies = [{ ...ENTRY, domain: host }]
    const { size } = CookieJar.fromJSON({ version: 1, cookies } as never, { now: () => NOW })
    assert.equal(size, parsed === host ? 1 : 0, host)
  }
})
