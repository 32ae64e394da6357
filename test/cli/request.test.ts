/** What a command line makes of a request, where there is no curl to compare it with. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { formOf } from '../../src/cli/form.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { command, H1, type Listener, onTerminal, start, title, WAYS, type Way } from './origin.ts'

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const echo: Listener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { method, url, headers } = request
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') }))
  })
}

async function seen(
  t: TestContext,
  way: Way,
  argv: readonly string[],
  path = '/',
  stdin = '',
): Promise<Seen> {
  const url = await start(t, way, echo)
  const { code, stdout, stderr } = await command([...way.options, ...argv, `${url}${path}`], { stdin })
  assert.deepEqual([code, stderr], [0, ''])
  return JSON.parse(stdout)
}

for (const way of WAYS) {
  test(`an upload over ${title(way)}`, async (t) => {
    const file = join(scratchFolder(t), 'a file.txt')
    writeFileSync(file, 'x'.repeat(300_000))
    const put = await seen(t, way, ['-T', file], '/folder/')
    assert.deepEqual([put.method, put.url, put.body.length], ['PUT', '/folder/a%20file.txt', 300_000])
    assert.equal(put.headers['content-length'], '300000')
    const piped = await seen(t, way, ['-T', '-', '-X', 'POST'], '/', 'from stdin')
    assert.deepEqual([piped.method, piped.body], ['POST', 'from stdin'])
    assert.equal(piped.headers['content-length'], undefined)
  })

  test(`fields and cookies over ${title(way)}`, async (t) => {
    const words = [
      '-A',
      '',
      '-H',
      'accept:',
      '-H',
      'x-empty;',
      '-u',
      'me:s:e',
      '-b',
      'a=1',
      '-b',
      'b=2',
      '-e',
      'http://r/',
    ]
    const { headers } = await seen(t, way, words)
    const { 'user-agent': agent, accept, authorization, cookie, referer } = headers
    assert.deepEqual([agent, accept, headers['x-empty']], [undefined, undefined, ''])
    assert.deepEqual([authorization, cookie, referer], [`Basic ${btoa('me:s:e')}`, 'a=1; b=2', 'http://r/'])
  })

  test(`--resolve and -4 over ${title(way)}`, async (t) => {
    const url = await start(t, way, echo)
    const { port, protocol } = new URL(url)
    const given = `${protocol}//name.test:${port}/`
    for (const host of ['name.test', '*']) {
      const rule = ['-k', '-4', '--resolve', `${host}:${port}:127.0.0.1`]
      const { code, stdout, stderr } = await command([...way.options, ...rule, given])
      assert.equal(code, 0, stderr)
      assert.match(stdout, new RegExp(`name\\.test:${port}`))
    }
    const elsewhere = await command([...way.options, '-k', '-6', '--resolve', `name.test:${port}:::1`, given])
    assert.notEqual(elsewhere.code, 0)
  })

  test(`--write-out over ${title(way)}`, async (t) => {
    const url = await start(t, way, (request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/to' }).end()
      else response.writeHead(201, { 'content-type': 'text/plain', etag: '"1"' }).end('12345')
    })
    const format =
      '%{http_code} %{response_code} %{size_download} %{num_redirects} %{method} %{url} %{url_effective} ' +
      '%{content_type} %header{ETag} %{remote_ip} %{http_version} %{no_such}%%\\t%{exitcode}\\n'
    const { stdout } = await command([...way.options, '-L', '-w', format, url])
    const version = way.protocol === 'http/1.1' ? '1.1' : '2'
    assert.equal(stdout, `12345201 201 5 1 GET ${url}/ ${url}/to text/plain "1" 127.0.0.1 ${version} %\t0\n`)
    const times = await command([
      ...way.options,
      '-o',
      '/dev/null',
      '-w',
      '%{time_connect} %{time_total}',
      url,
    ])
    const [connect, total] = times.stdout.split(' ').map(Number)
    assert.ok(connect! > 0 && total! >= connect!, times.stdout)
    const given = await command([...way.options, '-w', '@-', url], { stdin: '%{http_code}\\n' })
    assert.equal(given.stdout, '302\n')
    const redirect = await command([...way.options, '-w', '%{redirect_url}', url])
    assert.equal(redirect.stdout, `${url}/to`)
  })

  test(`-i over ${title(way)}`, async (t) => {
    const url = await start(t, way, (_request, response) => {
      response.sendDate = false
      response.setHeader('X-Mine', 'one')
      response.end('body')
    })
    const { stdout } = await command([...way.options, '-i', url])
    assert.match(
      stdout,
      way.protocol === 'http/1.1'
        ? /^HTTP\/1\.1 200 OK\r\nX-Mine: one\r\n/
        : /^HTTP\/2 200 \r\nx-mine: one\r\n/,
    )
    assert.match(stdout, /\r\n\r\nbody$/)
    const page = await onTerminal([...way.options, '-i', url])
    assert.match(page.stdout, /^HTTP\/.*\nx-mine: one\n(.*\n)*\nbody\n\nGET /i)
    assert.doesNotMatch(page.stdout, /\nheaders\n/)
  })
}

test('several URLs: outputs in their order, one archive, the last failure', async (t) => {
  const folder = scratchFolder(t)
  const url = await start(t, H1, ({ url = '' }, response) =>
    response.writeHead(url === '/no' ? 404 : 200).end(url),
  )
  const all = await command([
    '--har',
    '-',
    '-o',
    join(folder, 'a'),
    '-f',
    `${url}/a`,
    `${url}/no`,
    `${url}/b`,
  ])
  assert.equal(all.code, 22)
  const { entries } = JSON.parse(all.stdout).log
  assert.deepEqual(
    entries.map(({ response }: { response: { status: number } }) => response.status),
    [200, 404, 200],
  )
  const three = await command([`${url}/a`, `${url}/b`, `http://127.0.0.1:${await refusingPort(t)}`])
  assert.deepEqual([three.code, three.stdout], [2, '/a/b'])
})

test('--json-body is checked, and its message has no part of it', async (t) => {
  const folder = scratchFolder(t)
  writeFileSync(join(folder, 'bad.json'), '{"secret": 1')
  for (const given of ['{"secret": 1', `@${join(folder, 'bad.json')}`, '']) {
    const { code, stdout, stderr } = await command(['--json-body', given, 'http://localhost:1'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^USAGE: --json-body is not valid JSON/)
    assert.doesNotMatch(stderr, /secret/)
  }
  const sent = await seen(t, H1, ['--json-body', ' {"a": 1} '])
  assert.equal(sent.body, ' {"a": 1} ')
})

test('data in the URL', async (t) => {
  const words = ['-G', '-d', 'a b=ü', '--data-urlencode', 'q=1&2', '--data-urlencode', 'plain text']
  const { method, url, body } = await seen(t, H1, words, '/path?x=1')
  assert.deepEqual([method, url, body], ['GET', '/path?x=1&a%20b=%C3%BC&q=1%262&plain+text', ''])
})

test('a form', async (t) => {
  const folder = scratchFolder(t)
  const file = join(folder, 'a "b".png')
  writeFileSync(file, Buffer.of(0, 255))
  const read = async (): Promise<Buffer> => Buffer.of(0, 255)
  const parts = [
    'a=1;type=text/x;charset=utf-8',
    `f=@${file}`,
    'g=@-;filename="x;y.txt"',
    'q="a;type=b"',
    't=<f',
    'e=',
  ]
  const { type, body } = await formOf(parts, 'B', read)
  assert.equal(type, 'multipart/form-data; boundary=B')
  assert.equal(
    body.toString('latin1'),
    [
      '--B\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/x;charset=utf-8\r\n\r\n1',
      '--B\r\nContent-Disposition: form-data; name="f"; filename="a %22b%22.png"\r\nContent-Type: image/png\r\n\r\n\0\xff',
      '--B\r\nContent-Disposition: form-data; name="g"; filename="x;y.txt"\r\nContent-Type: text/plain\r\n\r\n\0\xff',
      '--B\r\nContent-Disposition: form-data; name="q"\r\n\r\na;type=b',
      '--B\r\nContent-Disposition: form-data; name="t"\r\n\r\n\0\xff',
      '--B\r\nContent-Disposition: form-data; name="e"\r\n\r\n',
      '--B--\r\n',
    ].join('\r\n'),
  )
  await assert.rejects(formOf(['no sign'], 'B', read), /--form is written 'name=value'/)
})

test('cookies of a file, saved to another or to standard output', async (t) => {
  const folder = scratchFolder(t)
  const jar = join(folder, 'in.txt')
  writeFileSync(jar, 'localhost\tFALSE\t/\tFALSE\t0\tsaved\tyes\n')
  const url = await start(t, H1, ({ headers }, response) => {
    response.writeHead(200, { 'set-cookie': 'new=1; Path=/' }).end(`${headers.cookie}\n`)
  })
  const { stdout } = await command(['-b', jar, '-c', '-', url])
  assert.match(stdout, /^saved=yes\n(.*\n)*.*\tsaved\tyes\n(.*\n)*.*\tnew\t1\n/)
  mkdirSync(join(folder, 'folder'))
  const none = await command(['-b', join(folder, 'absent.txt'), url])
  assert.equal(none.code, 1)
})

test('h2c to a port that speaks HTTP/1.1 says so', async (t) => {
  const url = await start(t, H1, echo)
  for (const more of [[], ['--repeat', '2']]) {
    const { code, stdout, stderr } = await command(['--h2c', ...more, url])
    assert.equal(code, 4)
    assert.match(stdout + stderr, /Does this port speak HTTP\/1\.1 alone\? Then leave --h2c out\./)
  }
})

test('wrong values', async () => {
  for (const [words, message] of [
    ['-u me', /--user is written 'name:password'/],
    ['--limit-rate x', /--limit-rate is a number of bytes per second/],
    ['-C x -o f', /--continue-at is a number of bytes/],
    ['-C -', /--continue-at needs a file/],
    ['--resolve x', /--resolve is written 'host:port:address'/],
    ['--duration 5x', /--duration is a time above 0/],
    ['--rate 5', /--rate needs --repeat or --duration/],
    ['--expect p99<1', /--expect needs --repeat or --duration/],
    ['--duration 1s --compressed', /--compressed is not for --repeat and --duration/],
    ['-4 -6', /--ipv4 and --ipv6 exclude each other/],
    ['-I -d x', /--head has no body/],
    ['-T f -d x', /--upload-file has the body/],
    ['-o a -o b', /there are more outputs than URLs/],
    ['--json --har -', /cannot both go to standard output/],
    ['--har - -o -', /cannot both go to standard output/],
    ['--json [1]', /--json-body TEXT sends a body/],
    ['--connect-timeout 0', /--connect-timeout is a number of seconds/],
  ] as const) {
    const { code, stderr } = await command([...words.split(' '), 'http://localhost:1'])
    assert.equal(code, 1, words)
    assert.match(stderr.replaceAll('\n', ' '), message)
  }
})
