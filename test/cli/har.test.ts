import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { harProblems } from './har-checker.ts'
import { command, H1, H2, start, title, WAYS } from './origin.ts'

const folder = mkdtempSync(join(tmpdir(), 'ventuno-har-'))
after(() => rmSync(folder, { recursive: true }))

interface Archive {
  log: {
    entries: {
      comment?: string
      serverIPAddress?: string
      connection?: string
      request: Record<string, unknown>
      response: Record<string, unknown>
      timings: Record<string, number>
    }[]
  }
}

/** Runs the command and returns the only entry of the valid archive it wrote. */
async function archived(argv: readonly string[], code = 0) {
  const file = join(folder, 'archive.har')
  const ran = await command([...argv, '--har', file])
  assert.equal(ran.code, code, ran.stderr)
  const har: Archive = JSON.parse(readFileSync(file, 'utf8'))
  assert.deepEqual(harProblems(har), [])
  assert.equal(har.log.entries.length, 1)
  return har.log.entries[0]!
}

for (const way of WAYS) {
  test(`an exchange over ${title(way)}`, async (t) => {
    const url = await start(t, way, (request, response) => {
      const cookies = [
        'a=1; Path=/; HttpOnly; Secure',
        'b=2; Domain=x.test; Expires=Wed, 21 Oct 2065 07:28:00 GMT',
      ]
      response.setHeader('set-cookie', cookies)
      response.setHeader('content-type', 'text/plain')
      request.resume().on('end', () => response.end('grüße'))
    })
    const entry = await archived([
      ...way.options,
      ...['-d', 'x=1&y=%20', '-H', 'cookie: s=1; t=a=b; lonely;', '-H', 'authorization: Bearer secret'],
      `${url.replace('//', '//me:hidden@')}/p?q=1&q=2&empty`,
    ])
    assert.doesNotMatch(JSON.stringify(entry), /secret|hidden/)
    const { request, response, timings } = entry
    assert.equal(request['url'], `${url}/p?q=1&q=2&empty`)
    assert.equal(request['method'], 'POST')
    assert.equal(request['httpVersion'], way.protocol === 'http/1.1' ? 'HTTP/1.1' : 'HTTP/2.0')
    assert.equal(request['bodySize'], 9)
    assert.deepEqual(request['queryString'], [
      { name: 'q', value: '1' },
      { name: 'q', value: '2' },
      { name: 'empty', value: '' },
    ])
    assert.deepEqual(request['cookies'], [
      { name: 's', value: '(redacted)' },
      { name: 't', value: '(redacted)' },
      { name: '', value: '(redacted)' },
    ])
    const sent = new Map(
      (request['headers'] as { name: string; value: string }[]).map((f) => [f.name, f.value]),
    )
    assert.equal(sent.get('authorization'), 'Bearer (redacted)')
    assert.equal(sent.get('content-length'), '9')
    assert.equal(sent.get(way.protocol === 'http/1.1' ? 'host' : ':authority'), new URL(url).host)
    assert.deepEqual(request['postData'], {
      mimeType: 'application/x-www-form-urlencoded',
      params: [
        { name: 'x', value: '1' },
        { name: 'y', value: ' ' },
      ],
    })
    assert.equal(response['status'], 200)
    assert.deepEqual(response['cookies'], [
      { name: 'a', value: '(redacted)', path: '/', httpOnly: true, secure: true },
      {
        name: 'b',
        value: '(redacted)',
        domain: 'x.test',
        expires: '2065-10-21T07:28:00.000Z',
        httpOnly: false,
        secure: false,
      },
    ])
    assert.deepEqual(response['content'], { size: 7, mimeType: 'text/plain', compression: 0, text: 'grüße' })
    assert.equal(response['bodySize'], 7)
    assert.equal(entry.serverIPAddress, '127.0.0.1')
    assert.match(entry.connection!, /^\d+$/)
    assert.equal(timings['ssl']! >= 0, way.isSecure)
    assert.ok(timings['connect']! >= 0)
  })
}

test('bytes that are no text, compression, a redirect', async (t) => {
  const url = await start(t, H1, (request, response) => {
    if (request.url === '/zip') {
      response.writeHead(302, {
        'content-type': 'text/plain',
        'content-encoding': 'gzip',
        location: '/there',
      })
      response.end(gzipSync('a'.repeat(1000)))
    } else {
      response.end(Buffer.of(0, 255, 1))
    }
  })
  const { request, response } = await archived(['-H', 'content-type: application/json', '-d', '\x00', url])
  assert.deepEqual(response['content'], {
    size: 3,
    mimeType: 'x-unknown',
    compression: 0,
    text: 'AP8B',
    encoding: 'base64',
  })
  assert.deepEqual(request['postData'], {
    mimeType: 'application/json',
    text: '',
    comment: '1 bytes, no text',
  })
  const zipped = (await archived([`${url}/zip`])).response
  const size = zipped['bodySize'] as number
  assert.deepEqual(zipped['content'], {
    size: 1000,
    mimeType: 'text/plain',
    compression: 1000 - size,
    text: 'a'.repeat(1000),
  })
  assert.equal(zipped['redirectURL'], '/there')
})

test('no connection, and a connection that is lost', async (t) => {
  const none = await archived(['--unix-socket', join(folder, 'none'), 'http://localhost'], 2)
  assert.match(none.comment!, /^ENOENT: /)
  assert.equal(none.response['status'], 0)
  assert.equal(none.serverIPAddress, undefined)
  const url = await start(t, H2, ({ socket }) => socket.destroy())
  const lost = await archived(['-k', url], 4)
  assert.match(lost.comment!, /^UND_ERR/)
})

test('an archive of a part of a body says so', async () => {
  const { harOf } = await import('../../src/cli/har.ts')
  const har = harOf(
    [
      {
        startedAt: new Date(0),
        request: {
          url: new URL('http://h/'),
          given: new URL('http://h/'),
          size: 0,
          method: 'GET',
          headers: [],
          body: null,
          timeout: null,
          retry: 0,
          location: false,
          compressed: false,
          jar: null,
        },
        sent: [],
        redirects: [],
        retries: [],
        connections: 0,
        early: [],
        response: {
          status: 200,
          statusText: '',
          headers: [],
          trailers: [],
          size: 10,
          body: Buffer.from('x'),
        },
        connection: null,
        phases: null,
        failure: null,
      },
    ],
    '1.0.0',
    false,
  )
  assert.deepEqual(harProblems(JSON.parse(JSON.stringify(har))), [])
  assert.match(
    JSON.stringify(har),
    /"content":\{"size":10,"mimeType":"x-unknown","comment":"too large to be kept"\}/,
  )
})

test('the checker finds what is wrong', () => {
  assert.deepEqual(harProblems({}), ['har.log is missing'])
  const problems = harProblems({
    log: {
      version: '1.1',
      creator: { name: 'x' },
      entries: [
        {
          startedDateTime: 'today',
          time: 1,
          cache: {},
          timings: { send: -1, wait: 0, receive: 0 },
          extra: 1,
        },
      ],
    },
  })
  assert.deepEqual(
    problems.map((problem) => problem.split(':')[0]),
    [
      'har.log.version is not 1.2',
      'har.log.creator.version is missing',
      'har.log.entries[0].request is missing',
      'har.log.entries[0].response is missing',
      'har.log.entries[0].startedDateTime is not a moment',
      'har.log.entries[0].timings.send is not an amount',
      'har.log.entries[0].extra is not of the format',
      'har.log.entries[0].time is 1, its parts are 0',
    ],
  )
})
