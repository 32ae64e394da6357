/** What the command shows of secrets, and whom it shows its certificate to. */
import assert from 'node:assert/strict'
import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { scratchFolder } from '../support/scratch-folder.ts'
import { AUTHORITY, command, H1, H1_TLS, onTerminal, start, title, WAYS } from './origin.ts'

const pem = (name: string): string => fileURLToPath(new URL(`../support/certs/${name}.pem`, import.meta.url))

for (const way of WAYS) {
  for (const [value, shown] of [
    ['sk-live-SECRET', '(redacted)'],
    ['SECRET SECRET', '(redacted)'],
    ['Bearer SECRET', 'Bearer (redacted)'],
    ['basic SECRET', 'basic (redacted)'],
    ['Bearer', '(redacted)'],
  ] as const) {
    test(`authorization ${value} over ${title(way)}`, async (t) => {
      const url = await start(t, way, (_request, response) => response.end('ok'))
      const har = join(scratchFolder(t), 'archive.har')
      const given = [...way.options, '-H', `authorization: ${value}`, '-H', `proxy-authorization: ${value}`]
      const page = await onTerminal([...given, '-v', '--har', har, url])
      const json = await command([...given, '--json', url])
      for (const text of [page.stdout, json.stdout, readFileSync(har, 'utf8')]) {
        assert.doesNotMatch(text, /SECRET/)
        assert.ok(text.includes(shown), text)
      }
    })
  }
}

async function archive(t: TestContext, options: readonly string[]): Promise<string> {
  const url = await start(t, H1, (_request, response) => {
    response.setHeader('set-cookie', 'session=SECRET; Path=/')
    response.setHeader('x-auth-token', 'SECRET')
    response.end('ok')
  })
  const har = join(scratchFolder(t), 'archive.har')
  const secrets = ['cookie: a=SECRET', 'x-api-key: SECRET', 'authorization: SECRET'].flatMap((one) => [
    '-H',
    one,
  ])
  const target = `${url}/?api_key=SECRET&access_token=SECRET&page=2`
  const data = ['-d', 'user=me&password=SECRET']
  assert.equal((await command([...secrets, ...data, '--har', har, ...options, target])).code, 0)
  return readFileSync(har, 'utf8')
}

test('an archive has no cookies, keys and credentials', async (t) => {
  const text = await archive(t, [])
  assert.doesNotMatch(text, /SECRET/)
  for (const name of ['cookie', 'x-api-key', 'set-cookie', 'session', 'api_key', 'password', 'page=2']) {
    assert.ok(text.includes(name), name)
  }
})

test('an archive shows no secrets of the URL that a response points to', async (t) => {
  const target = '//me:SECRET@other.test/a?page=2&access_token=SECRET#id_token=SECRET'
  const url = await start(t, H1, (_request, response) => {
    response.statusCode = 302
    response.setHeader('location', `https:${target}`)
    response.setHeader('link', `<https:${target}>; rel="next", </b?sig=SECRET>; rel="up"`)
    response.setHeader('refresh', '5; url=/b?pass%77ord=SECRET')
    response.end()
  })
  const har = join(scratchFolder(t), 'archive.har')
  await command(['--har', har, `${url}/#access_token=SECRET`])
  const text = readFileSync(har, 'utf8')
  assert.doesNotMatch(text, /SECRET/)
  const { response } = JSON.parse(text).log.entries[0]
  assert.equal(
    response.redirectURL,
    'https://other.test/a?page=2&access_token=(redacted)#id_token=(redacted)',
  )
  await command(['--har', har, '--har-secrets', url])
  assert.equal(JSON.parse(readFileSync(har, 'utf8')).log.entries[0].response.redirectURL, `https:${target}`)
})

test('an archive has them with --har-secrets', async (t) => {
  assert.equal((await archive(t, ['--har-secrets'])).match(/SECRET/g)?.length, 12)
})

test('--har-secrets needs --har', async () => {
  const { code, stderr } = await command(['--har-secrets', 'http://localhost'])
  assert.equal(code, 1)
  assert.match(stderr, /--har-secrets needs --har/)
})

test('an archive is for its owner alone, and a link to it stays one', async (t) => {
  const url = await start(t, H1, (_request, response) => response.end('ok'))
  const folder = scratchFolder(t)
  const fresh = join(folder, 'fresh.har')
  await command(['--har', fresh, url])
  assert.equal(statSync(fresh).mode & 0o777, 0o600)
  const [real, link] = [join(folder, 'real.har'), join(folder, 'link.har')]
  writeFileSync(real, '')
  chmodSync(real, 0o644)
  symlinkSync(real, link)
  await command(['--har', link, url])
  assert.ok(lstatSync(link).isSymbolicLink())
  assert.equal(statSync(real).mode & 0o777, 0o600)
  assert.equal(JSON.parse(readFileSync(real, 'utf8')).log.entries.length, 1)
})

test('JSON has no control characters of terminals and of text direction', async (t) => {
  const signs = '\x7f\x80\x9b31m\x9f\u061c\u200e\u200f\u202a\u202e\u2066\u2069'
  const url = await start(t, H1, (_request, response) => {
    response.setHeader('content-type', 'text/plain; charset=utf-8')
    response.end(signs)
  })
  const har = join(scratchFolder(t), 'archive.har')
  const { stdout } = await command(['--json', '--har', har, url])
  for (const text of [stdout, readFileSync(har, 'utf8')]) {
    for (const sign of signs.replace('31m', '')) assert.ok(!text.includes(sign), encodeURIComponent(sign))
  }
  assert.equal(JSON.parse(stdout).response.body, signs)
})

/** Opens tunnels. */
async function startProxy(t: TestContext): Promise<string> {
  const proxy = http.createServer()
  const sockets = new Set<Duplex>()
  proxy.on('connect', (request: http.IncomingMessage, socket: Duplex) => {
    const target = net.connect(Number(new URL(`http://${request.url}`).port), '127.0.0.1')
    for (const each of [socket, target]) sockets.add(each.on('error', () => {}))
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket.pipe(target).pipe(socket)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

for (const isProxied of [false, true]) {
  test(`a redirect shows the certificate to no other origin${isProxied ? ', through a proxy' : ''}`, async (t) => {
    const shown: unknown[] = []
    const listener =
      (name: string, location: string | null): http.RequestListener =>
      (request, response) => {
        const { subject } = (request.socket as TLSSocket).getPeerCertificate()
        shown.push([name, subject?.CN])
        if (location !== null) response.writeHead(302, { location })
        response.end('ok')
      }
    const other = await start(t, H1_TLS, listener('other', null))
    const origin = await start(t, H1_TLS, (request, response) =>
      listener('own', request.url === '/' ? '/again' : other)(request, response as never),
    )
    const proxy = isProxied ? ['--proxy', await startProxy(t)] : []
    const files = ['--cacert', AUTHORITY, '--cert', pem('client'), '--key', pem('client-key')]
    const ran = await command(['-L', ...proxy, ...files, origin])
    assert.equal(ran.code, 0, ran.stderr)
    assert.deepEqual(shown, [
      ['own', 'client'],
      ['own', 'client'],
      ['other', undefined],
    ])
  })
}
