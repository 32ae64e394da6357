import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { sourceLoader, sourceUrl } from '../support/sources.ts'
import {
  AUTHORITY,
  command,
  H1,
  H1_TLS,
  H2,
  H2C,
  type Listener,
  onTerminal,
  start,
  title,
  WAYS,
} from './origin.ts'

const folder = mkdtempSync(join(tmpdir(), 'ventuno-cli-'))
after(() => rmSync(folder, { recursive: true }))
const file = (name: string): string => join(folder, name)
const pem = (name: string): string => fileURLToPath(new URL(`../support/certs/${name}.pem`, import.meta.url))

/** Echoes the request as JSON. */
const echo: Listener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { method, url, headers } = request
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }))
  })
}

const page: Listener = (_request, response) => {
  response.setHeader('x-long', 'word '.repeat(40).trim())
  response.setHeader('trailer', 'checksum')
  response.setHeader('content-type', 'text/plain')
  response.write(`${'a line of text '.repeat(12)}\n`)
  response.addTrailers({ checksum: '42' })
  response.end('the end\n')
}

for (const way of WAYS) {
  test(`--retry over ${title(way)}`, async (t) => {
    let requests = 0
    const url = await start(t, way, (_request, response) => {
      response.writeHead(++requests % 3 === 0 ? 200 : 503, { 'retry-after': '0' })
      response.end('a body')
    })
    const again = await onTerminal([...way.options, '--retry', '2', url])
    assert.deepEqual([again.code, requests], [0, 3])
    assert.match(again.stdout, /\n200/)
    assert.match(again.stderr, /^503: sent again in [\d.]+ ms \(1 of 2\)\n503: .* \(2 of 2\)\n$/)
    const last = await onTerminal([...way.options, '--retry', '1', '--fail-with-body', url])
    assert.deepEqual([last.code, requests], [22, 5])
    assert.match(last.stdout, /^a body\n\n[\s\S]*\n503/)
    const once = await command([...way.options, '-X', 'POST', '--retry', '1', url])
    assert.deepEqual([once.code, requests], [0, 6])
  })

  test(`--location and --compressed over ${title(way)}`, async (t) => {
    const other = await start(t, way, (request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
      response.end(gzipSync(`${request.method} ${request.headers['accept-encoding']}`))
    })
    const url = await start(t, way, (request, response) => {
      request.resume()
      response.writeHead(302, { location: request.url === '/loop' ? '/loop' : `${other}/end` }).end()
    })
    const followed = await onTerminal([...way.options, '-L', '--compressed', '-d', 'data', '-v', url])
    assert.equal(followed.code, 0)
    assert.match(followed.stdout, new RegExp(`^GET gzip, deflate, br.*\n\nGET ${other}/end\n200`))
    assert.doesNotMatch(followed.stdout, /content-(?:length|encoding)/)
    assert.equal(followed.stderr, `302 leads to ${other}/end\n`)
    const plain = await onTerminal([...way.options, url])
    assert.match(plain.stdout, /\n302/)
    assert.equal((await command([...way.options, '-L', '--compressed', url])).stderr, '')
    const endless = await command([...way.options, '--location', `${url}/loop`])
    assert.equal(endless.code, 4)
    assert.match(endless.stderr, /UND_ERR_REDIRECT_MAX/)
  })

  test(`the report over ${title(way)}`, async (t) => {
    const url = await start(t, way, page)
    const { code, stdout, stderr } = await onTerminal([...way.options, '-v', `${url}/a?b`])
    assert.equal(stderr, '')
    assert.equal(code, 0)
    const body = `${'a line of text '.repeat(12)}\nthe end\n`
    assert.ok(stdout.startsWith(`${body}\nGET `), stdout)
    const lines = stdout.slice(body.length + 1).split('\n')
    assert.equal(lines[0], `GET ${url}/a?b`)
    assert.equal(lines[1], way.protocol === 'http/1.1' ? '200 OK' : '200')
    const where = `${way.protocol}, 127.0.0.1:${new URL(url).port}`
    assert.ok(lines[2]!.startsWith(way.isSecure ? `${where}, TLSv1.3 TLS_` : where), lines[2])
    if (way.isSecure) assert.match(lines[3]!, /^certificate of localhost by ventuno test CA until .*2120/)
    assert.match(stdout, /\n\nsent\n( {2}.*\n)* {2}user-agent {2}ventuno\/\d/)
    assert.match(stdout, /\n\nheaders\n {2}x-long +word word/)
    assert.match(stdout, /\n\nbody {2}189 bytes\n\ntrailers\n {2}checksum {2}42\n/)
    assert.match(stdout, /\n\ntiming\n {2}dns +\d.* [▏▎▍▌▋▊▉█]+\n {2}connect /)
    assert.equal(/\n {2}tls +\d/.test(stdout), way.isSecure)
    assert.match(stdout, /\n {2}first byte .*\n {2}download .*\n {2}total +[\d.]+ m?s\n$/)
    assert.ok(!stdout.includes('\x1b'))
    for (const line of lines) assert.ok(line.length <= 80, line)
  })

  test(`the JSON result over ${title(way)}`, async (t) => {
    const url = await start(t, way, echo)
    const data = ['-d', 'a=b', '-H', 'X-Mine: 1', '--json', '--timeout', '600']
    const { code, stdout } = await command([...way.options, ...data, `${url}/p?q`])
    assert.equal(code, 0)
    const result = JSON.parse(stdout)
    const keys = 'startedAt request redirects retries early response connection timings error'.split(' ')
    assert.deepEqual(Object.keys(result), keys)
    assert.equal(result.request.method, 'POST')
    assert.equal(result.request.size, 3)
    assert.equal(result.response.status, 200)
    assert.equal(result.response.encoding, 'utf-8')
    const seen = JSON.parse(result.response.body)
    assert.deepEqual([seen.method, seen.url, seen.body], ['POST', '/p?q', 'a=b'])
    assert.equal(seen.headers['x-mine'], '1')
    assert.equal(seen.headers['content-type'], 'application/x-www-form-urlencoded')
    assert.equal(result.connection.protocol, way.protocol)
    assert.equal(result.connection.remoteAddress, '127.0.0.1')
    assert.equal(result.connection.tls?.subject, way.isSecure ? 'localhost' : undefined)
    assert.equal(result.connection.tls?.problem ?? null, null)
    assert.ok(result.timings.total > 0)
    assert.equal(result.error, null)
  })

  test(`many requests over ${title(way)}`, async (t) => {
    const url = await start(t, way, (_request, response) => response.end('12345'))
    const many = ['--repeat', '20', '--concurrency', '4']
    const { code, stdout } = await command([...way.options, ...many, url])
    assert.equal(code, 0)
    assert.match(stdout, /^GET http.*\n20 requests, 4 at a time\n\n {2}protocol {2}/)
    const connections = way.protocol === 'http/1.1' ? '[1-4] connections?' : '1 connection'
    assert.match(
      stdout,
      new RegExp(`\\n  protocol  ${way.protocol}, ${connections}\\n  status    200 × 20\\n`),
    )
    assert.match(stdout, /\n {2}latency {3}p50 .* p90 .* p99 (.|\n)*? p99\.9 (.|\n)*? max .*\n\n/)
    const result = JSON.parse((await command([...way.options, ...many, '--json', url])).stdout)
    assert.equal(result.bytes, 100)
    assert.deepEqual(result.statuses, { 200: 20 })
    assert.deepEqual(result.protocols, [way.protocol])
    assert.equal(
      result.histogram.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
      20,
    )
  })
}

test('colour and width are those of the terminal', async (t) => {
  const url = await start(t, H1, page)
  for (const columns of [80, 120]) {
    const { stdout } = await command([url], { columns })
    const report = stdout.slice(stdout.indexOf('\x1b'))
    assert.ok(report.startsWith(`\x1b[1mGET ${url}/\x1b[0m\n\x1b[32m200 OK\x1b[0m\n`))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
    const lines = report.replace(/\x1b\[\d+m/g, '').split('\n')
    assert.ok(lines.some((line) => line.length > columns - 20))
    for (const line of lines) assert.ok(line.length <= columns, line)
  }
  assert.ok(!(await command([url], { columns: 80, env: { NO_COLOR: '1' } })).stdout.includes('\x1b'))
})

test('data from a file and from standard input, and what they are sent as', async (t) => {
  const url = await start(t, H1, echo)
  const sent = async (argv: string[], stdin = '') => {
    const result = JSON.parse((await command([...argv, '--json', url], { stdin })).stdout)
    return JSON.parse(result.response.body)
  }
  writeFileSync(file('data'), 'from a file')
  const fromFile = await sent(['-d', `@${file('data')}`])
  assert.deepEqual(
    [fromFile.body, fromFile.headers['content-type']],
    ['from a file', 'application/x-www-form-urlencoded'],
  )
  assert.equal((await sent(['-d', '@-'], 'from stdin')).body, 'from stdin')
  const json = await sent(['--json-body', '{"a":1}', '-X', 'PATCH'])
  assert.deepEqual([json.method, json.body], ['PATCH', '{"a":1}'])
  assert.equal(json.headers['content-type'], 'application/json')
  const own = await sent(['-d', 'x', '-H', 'Content-Type: text/plain', '-H', 'user-agent: mine'])
  assert.deepEqual([own.headers['content-type'], own.headers['user-agent']], ['text/plain', 'mine'])
})

test('credentials in the URL are sent, and shown nowhere', async (t) => {
  const url = await start(t, H1, (request, response) => {
    response.setHeader('x-seen', String(request.headers.authorization === `Basic ${btoa('me:hidden')}`))
    response.end()
  })
  const secret = url.replace('//', '//me:hidden@')
  for (const argv of [['-v'], ['--json'], ['--repeat', '2'], ['--repeat', '2', '--json']]) {
    const { stdout, stderr } = await onTerminal([...argv, secret])
    if (!argv.includes('--repeat')) assert.match(stdout, /x-seen\W+true/)
    assert.doesNotMatch(stdout + stderr, new RegExp(`hidden|${btoa('me:hidden')}`))
  }
  const { code, stderr } = await command(['--unix-socket', file('none'), secret])
  assert.equal(code, 2)
  assert.doesNotMatch(stderr, /hidden|me:/)
})

test('a body goes to a file, or to standard output with the report beside it', async (t) => {
  const body = Buffer.alloc(300_000, 'ab\0')
  const url = await start(t, H2, (_request, response) => response.end(body))
  const saved = await onTerminal(['-k', '-o', file('saved'), url])
  assert.deepEqual(readFileSync(file('saved')), body)
  assert.match(saved.stdout, /body {2}300 kB\n {2}saved to /)
  assert.match(saved.stdout, /\nnot verified: /)
  const piped = await onTerminal(['-k', '-v', '-o', '-', url])
  assert.deepEqual(piped.body, body)
  assert.match(piped.stderr, /body {2}300 kB\n {2}saved to standard output/)
  const result = JSON.parse((await command(['-k', '--json', '-o', file('saved'), url])).stdout)
  assert.deepEqual([result.response.body, result.response.savedTo], [null, file('saved')])
})

test('a Unix socket, early hints, a client certificate', async (t) => {
  const path = file('origin.sock')
  await start(t, H1, echo, path)
  const { stdout } = await onTerminal(['--unix-socket', path, 'http://any.test/x'])
  assert.ok(stdout.includes(`http/1.1, ${path}\n`))
  const hints = await start(t, H1, (_request, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.end()
  })
  assert.match((await onTerminal([hints])).stdout, /\n\nearly 103\n {2}link {2}<\/style\.css>/i)
  const shown = await start(t, H1_TLS, ({ socket }, response) => {
    response.end((socket as import('node:tls').TLSSocket).getPeerCertificate()?.subject?.CN ?? 'nobody')
  })
  const result = async (...argv: string[]) =>
    JSON.parse((await command(['--cacert', AUTHORITY, '--json', ...argv, shown])).stdout).response.body
  assert.equal(await result(), 'nobody')
  assert.equal(await result('--cert', pem('client'), '--key', pem('client-key')), 'client')
  writeFileSync(file('both.pem'), `${readFileSync(pem('client'))}\n${readFileSync(pem('client-key'))}`)
  assert.equal(await result('--cert', file('both.pem')), 'client')
})

test('which protocol', async (t) => {
  const both = await start(t, H2, echo)
  const protocol = async (...argv: string[]) =>
    JSON.parse((await command([...argv, '--json'])).stdout).connection?.protocol
  assert.equal(await protocol('-k', '--http2', both), 'h2')
  const old = await start(t, H1_TLS, echo)
  const { code, stderr } = await command(['-k', '--http2', old])
  assert.equal(code, 4)
  assert.match(stderr, /WRONG_PROTOCOL: .*\n {2}Leave --http2 out/)
  assert.equal(await protocol('-k', '--http1', old), 'http/1.1')
})

test('exit 0 and 22: the status counts only with --fail', async (t) => {
  const url = await start(t, H1, (_request, response) => response.writeHead(404).end())
  assert.equal((await command([url])).code, 0)
  assert.deepEqual(await command(['-f', url]), { code: 22, stdout: '', stderr: '', body: Buffer.alloc(0) })
  assert.equal((await command(['--fail', '--repeat', '2', url])).code, 22)
  assert.equal((await command(['--repeat', '2', url])).code, 0)
})

test('exit 1: the command line, or a file', async (t) => {
  const url = await start(t, H1, echo)
  const refused = async (argv: string[], message: RegExp) => {
    const { code, stdout, stderr } = await command(argv)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, message)
  }
  await refused(['--what', url], /^USAGE: Unknown option '--what'\n {2}ventuno --help lists the options\.\n$/)
  await refused(['-d', `@${file('absent')}`, url], /^USAGE: cannot read .*absent: ENOENT/)
  await refused(['--cacert', file('absent'), url.replace('http', 'https')], /cannot read/)
  await refused(['-o', join(folder, 'no', 'such'), url], /cannot write .*ENOENT/)
  const archive = await onTerminal(['--har', join(folder, 'no', 'such'), url])
  assert.equal(archive.code, 1)
  assert.match(archive.stdout, /\n200 OK\n/)
  assert.match(archive.stderr, /cannot write .*ENOENT/)
  await refused(['-X', 'NO GOOD', url], /UND_ERR_INVALID_ARG/)
  await refused(['-H', 'expect: 100-continue', url], /UND_ERR_NOT_SUPPORTED/)
})

test('exit 2: no connection', async () => {
  const { code, stdout, stderr } = await onTerminal(['--unix-socket', file('none'), 'http://localhost/'])
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(
    stderr,
    /^GET http:\/\/localhost\/\n\nENOENT: connect ENOENT .*\n(.*\n)* {2}There is no such socket/,
  )
  const many = await command(['--repeat', '3', '--unix-socket', file('none'), 'http://localhost/'])
  assert.equal(many.code, 2)
  assert.match(many.stdout, /\n\nENOENT × 3: connect/)
  const result = JSON.parse(
    (await command(['--json', '--unix-socket', file('none'), 'http://localhost/'])).stdout,
  )
  assert.deepEqual([result.response, result.connection, result.timings], [null, null, null])
  assert.deepEqual([result.error.code, result.error.exitCode], ['ENOENT', 2])
})

test('exit 3: it took too long', async (t) => {
  const held: ServerResponse[] = []
  const url = await start(t, H2C, (request, response) => {
    held.push(response)
    if (request.url === '/some') response.write('some')
  })
  for (const path of ['/none', '/some']) {
    const { code, stderr } = await command(['--h2c', '--timeout', '0.3', url + path])
    assert.equal(code, 3)
    assert.match(stderr, /TIMEOUT: no complete response within 0\.3 s while (connecting|waiting|receiving)/)
  }
  const many = await command(['--h2c', '--timeout', '.5', '--repeat', '2', '--concurrency', '2', url])
  assert.equal(many.code, 3)
  assert.match(many.stdout, /TIMEOUT × 2: /)
})

test('exit 4: TLS, the protocol, a loss', async (t) => {
  const secure = await start(t, H2, echo)
  const unknown = await command([secure])
  assert.equal(unknown.code, 4)
  assert.match(unknown.stderr, /UNABLE_TO_VERIFY_LEAF_SIGNATURE: .*\n(.*\n)? {2}No trusted authority/)
  const plain = await start(t, H1, ({ url, socket }, response) => {
    if (url === '/half')
      response.writeHead(200, { 'content-length': 9 }).write('half', () => socket.destroy())
    else socket.destroy()
  })
  const notTls = await command([plain.replace('http', 'https')])
  assert.equal(notTls.code, 4)
  assert.match(
    notTls.stderr,
    /ERR_SSL_WRONG_VERSION_NUMBER: wrong version number\n {2}The server does not speak TLS/,
  )
  const half = await onTerminal([`${plain}/half`])
  assert.deepEqual([half.code, half.stdout], [4, 'half\n'])
  assert.match(half.stderr, /200 OK\n(.*\n)*body {2}4 bytes\n(.*\n)*UND_ERR_SOCKET: /)
  const lost = await onTerminal([plain])
  assert.equal(lost.code, 4)
  assert.match(lost.stderr, /\n {2}waiting .*\n(.*\n)*UND_ERR_SOCKET: other side closed/)
  const noise = net.createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-noise\r\n'))
  await new Promise<void>((resolve) => noise.listen(0, '127.0.0.1', resolve))
  t.after(() => noise.close())
  const parsed = await onTerminal([`http://127.0.0.1:${(noise.address() as AddressInfo).port}`])
  assert.equal(parsed.code, 4)
  assert.match(parsed.stderr, /HPE_[A-Z_]+: .*\n(.*\n)* {2}This is not HTTP\/1\.1/)
  assert.doesNotMatch(parsed.stderr, /\n {2}dns/)
})

test('the program', () => {
  const main = fileURLToPath(sourceUrl('src/cli/main.ts'))
  const { status, stdout, stderr } = spawnSync(process.execPath, [...sourceLoader, main, '--nope'])
  assert.deepEqual([status, String(stdout)], [1, ''])
  assert.match(String(stderr), /^USAGE: Unknown option '--nope'\n/)
})

test('help and version', async () => {
  assert.match((await command(['--help'])).stdout, /^Usage: ventuno/)
  assert.match((await command(['-V'])).stdout, /^ventuno \d+\.\d+\.\d+\n$/)
})
