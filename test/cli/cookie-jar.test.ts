import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { command, H1, type Listener, start, title, WAYS } from './origin.ts'

const folder = mkdtempSync(join(tmpdir(), 'ventuno-cli-jar-'))
after(() => rmSync(folder, { recursive: true }))
const file = (name: string): string => join(folder, name)

/** `/login` sets a session and redirects, `/logout` deletes it; every page shows the cookies it got. */
const site: Listener = (request, response) => {
  const { cookie = 'none' } = request.headers
  if (request.url === '/login') {
    response.writeHead(302, {
      location: '/page',
      'set-cookie': ['session=abc; HttpOnly; Path=/; Max-Age=1000', 'utf8=\u00c3\u00a9; Path=/'],
    })
  } else if (request.url === '/logout') {
    response.writeHead(200, { 'set-cookie': 'session=; Path=/; Max-Age=0' })
  }
  response.end(`cookies: ${Buffer.from(cookie, 'latin1')}`)
}

for (const way of WAYS) {
  test(`--cookie-jar over ${title(way)}`, async (t) => {
    const url = await start(t, way, site)
    const jar = file(`${way.protocol.replace('/', '-')}-${way.isSecure}.txt`)
    const run = (path: string, ...options: string[]) =>
      command([...way.options, '--cookie-jar', jar, ...options, `${url}${path}`])
    const login = await run('/login', '-L')
    assert.equal(login.code, 0)
    assert.match(login.stdout, /cookies: session=abc; utf8=\S+/)
    assert.match(readFileSync(jar, 'latin1'), /^#HttpOnly_localhost\tFALSE\t\/\tFALSE\t\d+\tsession\tabc$/m)
    // The bytes of the value, not a text in another encoding.
    assert.match(readFileSync(jar, 'latin1'), /\tutf8\t\u00c3\u00a9$/m)
    assert.match((await run('/page')).stdout, /cookies: session=abc; utf8=/)
    assert.match((await run('/page', '-H', 'cookie: session=mine')).stdout, /cookies: session=mine; utf8=/)
    await run('/logout')
    assert.doesNotMatch(readFileSync(jar, 'latin1'), /session/)
    assert.match((await run('/page')).stdout, /cookies: utf8=/)
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.tmp')),
      [],
    )
  })
}

test('without --cookie-jar no cookies are kept', async (t) => {
  const url = await start(t, H1, site)
  assert.match((await command(['-L', `${url}/login`])).stdout, /cookies: none/)
})

test('the file of --cookie-jar is for its owner alone, and a link to it stays a link', async (t) => {
  const url = await start(t, H1, site)
  const real = file('real.txt')
  const link = file('link.txt')
  writeFileSync(real, '# Netscape HTTP Cookie File\nlocalhost\tFALSE\t/\tFALSE\t0\tmine\t1\n', {
    mode: 0o644,
  })
  symlinkSync(real, link)
  assert.match((await command(['--cookie-jar', link, '-L', `${url}/login`])).stdout, /mine=1; session=abc/)
  assert.match(readFileSync(real, 'latin1'), /\tmine\t1\n[\s\S]*\tsession\tabc\n/)
  assert.equal(statSync(real).mode & 0o777, 0o600)
})

test('--cookie-jar with a device reads nothing, and does not replace it', {
  skip: process.platform === 'win32' && 'no /dev/null',
}, async (t) => {
  const url = await start(t, H1, site)
  assert.equal((await command(['--cookie-jar', '/dev/null', `${url}/login`])).code, 0)
  assert.ok(statSync('/dev/null').isCharacterDevice())
})

test('--cookie-jar with a file that cannot be read or written', async (t) => {
  const url = await start(t, H1, site)
  const directory = await command(['--cookie-jar', folder, url])
  assert.equal(directory.code, 1)
  assert.match(directory.stderr, /cannot read /)
  const nowhere = await command(['--cookie-jar', file('none/jar.txt'), url])
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.stderr, /cannot write /)
  const repeated = await command(['--cookie-jar', file('x.txt'), '--repeat', '2', url])
  assert.match(repeated.stderr, /--cookie-jar is not for --repeat/)
})
