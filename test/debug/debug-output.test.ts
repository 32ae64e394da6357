/** The lines that RUNTIME_DEBUG prints for each kind of traffic, seen from outside the process. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TRAFFIC_CHANNELS } from './channel-names.ts'
import { expectedLines, type Line } from './expected-lines.ts'
import { runScript } from './run-traffic.ts'

type Expected = readonly Line[]

interface Place {
  readonly host?: string
  readonly before?: string
  readonly after?: string
}

function simple(url: string, place: Place = {}): Expected {
  const { host = url.split('/')[2]!, before = 'http:h1' } = place
  const { after = before } = place
  return [
    ['c', `connecting to ${host} using ${before}`],
    ['c', `connected to ${host} using ${after}`],
    ['c', `sending request to GET ${url}`],
    ['r', `received response to GET ${url} - HTTP 200`],
    ['r', `trailers received from GET ${url}`],
  ]
}

function hungUp(url: string, host: string, version = 'http:h1'): Expected {
  return [
    ['c', `connecting to ${host} using ${version}`],
    ['c', `connected to ${host} using ${version}`],
    ['c', `sending request to GET ${url}`],
    ['r', `request to GET ${url} errored - other side closed`],
  ]
}

function refused(version: string): Expected {
  const why = 'connect ECONNREFUSED 127.0.0.1:<closed>'
  return [
    ['c', `connecting to 127.0.0.1:<closed> using ${version}`],
    ['c', `connection to 127.0.0.1:<closed> using ${version} errored - ${why}`],
    ['r', `request to GET http://127.0.0.1:<closed>/ errored - ${why}`],
  ]
}

function abandoned(why: string): Expected {
  return [
    ['c', 'connecting to localhost:<silent> using http:h1'],
    ['c', 'connected to localhost:<silent> using http:h1'],
    ['r', `request to GET http://localhost:<silent>/ errored - ${why}`],
  ]
}

const SCENES: Record<string, Expected> = {
  h1: simple('http://localhost:<h1>/a'),
  'h1+tls': simple('https://localhost:<h1+tls>/', { before: 'https:h1' }),
  h2: simple('https://localhost:<h2>/', { before: 'https:h1', after: 'https:h2' }),
  h2c: simple('http://localhost:<h2c>/', { before: 'http:h2' }),
  'failed connect': [
    ...refused('http:h1'),
    ...refused('http:h2'),
    ['c', 'connecting to [::1] using https:h1'],
    // One line, whatever the message of the error.
    ['c', 'connection to [::1] using https:h1 errored - no way CORE 1: connected to  [2Jelsewhere'],
    ['r', 'request to GET https://[::1]/ errored - no way CORE 1: connected to  [2Jelsewhere'],
  ],
  'failed request': [
    ...hungUp('http://localhost:<failing>/', 'localhost:<failing>'),
    ...hungUp('http://localhost:<failing h2>/', 'localhost:<failing h2>', 'http:h2'),
  ],
  'odd reasons': [...abandoned('unknown error'), ...abandoned('gave up'), ...abandoned('Error')],
  takeovers: [
    ['c', 'connecting to localhost:<taken> using http:h1'],
    ['c', 'connected to localhost:<taken> using http:h1'],
    ['c', 'sending request to CONNECT http://localhost:<taken>db.test:5432'],
    ['c', 'connecting to localhost:<taken> using http:h1'],
    ['c', 'connected to localhost:<taken> using http:h1'],
    ['c', 'sending request to GET http://localhost:<taken>/chat'],
  ],
  credentials: [
    ...simple('http://localhost:<private>/'),
    ...simple('http://localhost:<private>http://wonder.test/land', { host: 'localhost:<private>' }),
    ...simple('http://localhost:<private>//wonder.test/@scope/x', { host: 'localhost:<private>' }),
    ...hungUp('http://localhost:<private failing>http://wonder.test/', 'localhost:<private failing>'),
  ],
  websocket: [
    ['w', 'connection opened 127.0.0.1'],
    ['w', 'connection opened'],
    ['w', 'ping received'],
    ['w', 'pong received'],
    ['w', 'connection errored - read ECONNRESET'],
    ['w', 'closed connection to wss://chat.test/room - 1000 bye bye'],
  ],
}

/** The labels of connection, request and WebSocket lines; null if none is printed. */
const COMBINATIONS: readonly (readonly [string, string, string | null, string | null])[] = [
  ['core', 'CORE', 'CORE', null],
  ['fetch', 'FETCH', 'FETCH', null],
  ['websocket', 'WEBSOCKET', null, 'WEBSOCKET'],
  ['core,fetch', 'FETCH', 'FETCH', null],
  ['websocket,core', 'CORE', 'CORE', 'WEBSOCKET'],
  ['fetch,websocket', 'FETCH', 'FETCH', 'WEBSOCKET'],
  ['core,fetch,websocket', 'FETCH', 'FETCH', 'WEBSOCKET'],
  [' WebSocket ,http2,, CORE', 'CORE', 'CORE', 'WEBSOCKET'],
]

describe('debug output', { concurrency: 2 }, () => {
  for (const [flags, connection, request, websocket] of COMBINATIONS) {
    it(`writes the lines of RUNTIME_DEBUG=${JSON.stringify(flags)}`, async () => {
      const expected = expectedLines(SCENES, { c: connection, r: request, w: websocket })
      const { lines } = await runScript('./traffic.ts', flags, Object.keys(SCENES))
      assert.deepEqual(lines, expected)
      assert.doesNotMatch(lines.join('\n'), /secret|sec@ret|c2VjcmV0|alice|bob|scott|tiger/)
    })
  }

  for (const flags of [undefined, '', 'cores,undici,core fetch']) {
    it(`listens to nothing with RUNTIME_DEBUG=${JSON.stringify(flags)}`, async () => {
      const { lines, report } = await runScript('./traffic.ts', flags, ['h1', 'websocket'])
      assert.deepEqual(lines, ['# h1', '# websocket'])
      assert.deepEqual(report.heard, [])
    })
  }

  it('writes the end of each connection, and a table of those there are at the close of a dispatcher', async () => {
    const { lines } = await runScript('./listed-connections.ts', 'connections', [])
    const [lost, title, , columns, , ...rest] = lines
    const END =
      /^CONNECTIONS PID: \d+ to http:\/\/localhost:<server> over h1 ended after \d+ ms, 1 requests, \d+ bytes in, \d+ out - /
    assert.match(lost!, END)
    assert.match(lost!, / - other side closed$/)
    assert.equal(title, 'CONNECTIONS PID: 2 of Agent, which is being closed:')
    const names = columns!.split('│').map((name) => name.trim())
    assert.deepEqual(
      names.slice(2, -1).join(' '),
      'id origin state protocol age idleTime requests running bytesRead bytesWritten',
    )
    const rows = rest.slice(0, 2)
    for (const row of rows) assert.match(row, /│ 'http:\/\/localhost:<server>' +│ 'idle' +│ 'h1' +│/)
    // The pool of the agent is closed, too: its table would be the same.
    const ends = rest.slice(3)
    assert.equal(ends.length, 2)
    for (const end of ends) assert.match(end, END)
    assert.doesNotMatch(lines.join('\n'), /secret/)
  })

  it('writes every line once when the package is loaded twice', async () => {
    const { lines, report } = await runScript('./two-copies.ts', 'core', [])
    assert.deepEqual(report.answers, ['first', 'second'])
    const expected = ['first', 'second'].flatMap((path) =>
      simple(`http://localhost:<server>/${path}`).map(([, message]) => `CORE PID: ${message}`),
    )
    assert.deepEqual(lines, expected)
  })

  it('keeps listeners that throw from harming a request', async () => {
    const { report } = await runScript('./throwing-listeners.ts', undefined, [])
    assert.deepEqual(report.answers, [
      'h1 200 hello',
      'h1 ECONNREFUSED',
      'h2 200 hello',
      'h2 ECONNREFUSED',
      'h2c 200 hello',
      'h2c ECONNREFUSED',
    ])
    // The runtime reports the errors to the process, where their owner expects them.
    assert.deepEqual(report.caught.sort(), [...TRAFFIC_CHANNELS, 'ventuno:client:disconnected'].sort())
  })
})
