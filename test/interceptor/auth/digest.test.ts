import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { readChallenges, readParameters } from '../../../src/interceptor/auth/challenges.ts'
import { nextNonceOf, strongestDigest } from '../../../src/interceptor/auth/digest-challenge.ts'
import { DigestSession } from '../../../src/interceptor/auth/digest-session.ts'

const challengeOf = (field: string) => strongestDigest(readChallenges(field))

/** RFC 7616 §3.9.1. */
const MUFASA =
  'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=ALGORITHM, ' +
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
const CNONCE = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ'
const USER = { username: 'Mufasa', password: 'Circle of Life' }
const TARGET = { method: 'GET', uri: '/dir/index.html' }

function answerTo(field: string, user = USER, cnonce = CNONCE, target = TARGET): Map<string, string> {
  const answer = new DigestSession(challengeOf(field)!, user, cnonce).answer(target)
  assert.match(answer, /^Digest /)
  return new Map(readParameters(answer.slice('Digest '.length))!)
}

describe('an answer to a Digest challenge', () => {
  for (const [algorithm, response] of [
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ] as const) {
    test(`the example of RFC 7616 §3.9.1 with ${algorithm}`, () => {
      assert.deepEqual(Object.fromEntries(answerTo(MUFASA.replace('ALGORITHM', algorithm))), {
        username: 'Mufasa',
        realm: 'http-auth@example.org',
        nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
        uri: '/dir/index.html',
        response,
        algorithm,
        qop: 'auth',
        nc: '00000001',
        cnonce: CNONCE,
        opaque: 'FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS',
      })
    })
  }

  test('SHA-512-256 and a hidden name beyond ASCII: the name of RFC 7616 §3.9.2, as its erratum 4897 has it', () => {
    const field =
      'Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, charset=UTF-8, userhash=true, ' +
      'nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS"'
    const user = { username: 'J\u00e4s\u00f8n Doe', password: 'Secret, or not?' }
    const target = { method: 'GET', uri: '/doe.json' }
    const answer = answerTo(field, user, 'NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm', target)
    assert.equal(answer.get('username'), '793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b')
    assert.equal(answer.get('userhash'), 'true')
    // The same name, spelled with combining characters.
    const other = answerTo(field, { ...user, username: user.username.normalize('NFD') }, undefined, target)
    assert.equal(other.get('username'), answer.get('username'))
  })

  test('without a qop, as servers of RFC 2069 want it', () => {
    const answer = answerTo('Digest realm="r", nonce="n"')
    const md5 = (text: string): string => createHash('md5').update(text).digest('hex')
    const [key, request] = [md5('Mufasa:r:Circle of Life'), md5('GET:/dir/index.html')]
    assert.deepEqual([answer.get('response'), answer.has('qop')], [md5(`${key}:n:${request}`), false])
    assert.equal(answer.has('algorithm'), false)
  })

  test('the key of a -sess algorithm is made once, with the first nonce', () => {
    const session = new DigestSession(
      challengeOf('Digest realm="r", nonce="n", qop=auth, algorithm=SHA-256-sess')!,
      USER,
      'c',
    )
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
    const key = hash(`${hash('Mufasa:r:Circle of Life')}:n:c`)
    const expected = (middle: string): string =>
      hash(`${key}:${middle}:c:auth:${hash('GET:/dir/index.html')}`)
    assert.ok(session.answer(TARGET).includes(`response="${expected('n:00000001')}"`))
    assert.ok(session.answer(TARGET).includes(`response="${expected('n:00000002')}"`))
    session.nonce = 'later'
    assert.ok(session.answer(TARGET).includes(`response="${expected('later:00000001')}"`))
  })

  test('a name beyond ASCII is encoded, quotes are escaped', () => {
    const session = new DigestSession(challengeOf('Digest realm="a \\"b\\" \\\\", nonce="n", qop=auth')!, {
      username: 'J\u00e4s\u00f8n*',
      password: 'x',
    })
    const answer = session.answer({ method: 'GET', uri: '/a"b' })
    assert.ok(
      answer.includes(`username*=UTF-8''J%C3%A4s%C3%B8n%2A, realm="a \\"b\\" \\\\", nonce="n", uri="/a\\"b"`),
    )
  })
})

describe('challenges', () => {
  test('several in one field, and in several: the strongest Digest is answered, whatever comes first', () => {
    const fields = [
      'Negotiate, NTLM TlRMTVNTUAAB==, Basic realm="Digest realm=\\"x\\", nonce=1", Digest realm="r", nonce="md5", qop="auth"',
      'Digest realm="r",nonce="sha",qop=auth,algorithm="SHA-256" , Bearer , Digest nonce="sess",realm="r",qop=auth,algorithm=SHA-256-sess',
    ]
    const challenges = readChallenges(fields)
    assert.deepEqual(
      challenges.map(({ scheme, parameters }) => [scheme, parameters.get('nonce')]),
      [
        ['negotiate', undefined],
        ['ntlm', undefined],
        ['basic', undefined],
        ['digest', 'md5'],
        ['digest', 'sha'],
        ['bearer', undefined],
        ['digest', 'sess'],
      ],
    )
    assert.equal(strongestDigest(challenges)!.nonce, 'sha')
  })

  test('those that nobody can answer', () => {
    for (const field of [
      'Digest realm="r"',
      'Digest nonce="n"',
      'Digest realm="r", nonce="n", qop="auth-int"',
      'Digest realm="r", nonce="n", qop=""',
      'Digest realm="r", nonce="n", algorithm=MD4',
      'Digest realm="r", nonce="n", algorithm=constructor',
      'Digest realm="r", nonce="n", algorithm=MD5-sess',
      'Basic realm="r", nonce="n"',
    ]) {
      assert.equal(challengeOf(field), null, field)
    }
  })

  test('hostile ones: neither the challenge with a mistake nor what follows it counts', () => {
    const whole = 'Digest realm="r", nonce="whole"'
    for (const [rest, count] of [
      [', Digest realm="r", nonce="open', 1],
      [', Digest realm="r", nonce="n", nonce="m"', 1],
      [', Digest realm="r", Nonce="n", nONCE="n"', 1],
      [', Digest realm="r" nonce="n"', 1],
      [', Digest realm="r", nonce=', 1],
      [', Digest realm="r", nonce="n"junk', 1],
      [', Digest realm="r", =x, nonce="n"', 1],
      [', \u0000', 0],
      [' Digest realm="r", nonce="n"', 0],
      [',,, ,\t,', 1],
      [', Digest realm="\\', 1],
      [', __proto__ toString=x, Digest realm="r", nonce="n"', 3],
    ] as const) {
      const challenges = readChallenges(whole + rest)
      assert.equal(challenges.length, count, rest)
      if (count > 0) assert.equal(challenges[0]!.parameters.get('nonce'), 'whole')
    }
    assert.deepEqual(readChallenges(undefined), [])
  })

  test('long ones take time in proportion to their length', () => {
    const times = (piece: string): string => piece.repeat(Math.ceil(2 ** 20 / piece.length))
    for (const field of [
      `Digest realm="${times('\\"')}`,
      `Digest realm="${times('a')}`,
      `Digest ${times('a')}`,
      `Digest ${times('a=')}`,
      times(' \t'),
      times(', '),
      `x${times(' \t')}y`,
      times('a, '),
      times('a ='),
      `Digest a=${times(' ')}b`,
    ]) {
      // In quadratic time, it would not end.
      assert.ok(readChallenges(field).length <= 2 ** 20)
    }
  })

  test('the next nonce', () => {
    assert.equal(nextNonceOf('qop=auth, nextnonce="a\\"b", rspauth="0"'), 'a"b')
    for (const field of [null, '', 'nextnonce', 'nextnonce="open', 'nextnonce="n" x', 'rspauth="0"'])
      assert.equal(nextNonceOf(field), null)
  })
})
