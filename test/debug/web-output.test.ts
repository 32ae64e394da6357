/** The lines that RUNTIME_DEBUG prints for `fetch` and WebSockets, seen from outside the process. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectedLines, type Line } from './expected-lines.ts'
import { runScript } from './run-traffic.ts'

function connects(host: string, before: string, after = before): Line[] {
  return [
    ['c', `connecting to ${host} using ${before}`],
    ['c', `connected to ${host} using ${after}`],
  ]
}

function answered(url: string): Line[] {
  return [
    ['c', `sending request to GET ${url}`],
    ['r', `received response to GET ${url} - HTTP 200`],
    ['r', `trailers received from GET ${url}`],
  ]
}

function hungUp(url: string): Line[] {
  return [
    ['c', `sending request to POST ${url}`],
    ['r', `request to POST ${url} errored - other side closed`],
  ]
}

function refused(host: string): Line[] {
  const why = `connect ECONNREFUSED ${host}`
  return [
    ['c', `connecting to ${host} using http:h1`],
    ['c', `connection to ${host} using http:h1 errored - ${why}`],
    ['r', `request to GET http://${host}/ errored - ${why}`],
  ]
}

const OPENED: Line = ['w', 'connection opened 127.0.0.1']

function closed(url: string, how: string): Line {
  return ['w', `closed connection to ${url} - ${how}`]
}

const SCENES: Record<string, Line[]> = {
  'fetch over h1': [...connects('localhost:<h1>', 'http:h1'), ...answered('http://localhost:<h1>/a')],
  'fetch over h1 and TLS': [
    ...connects('localhost:<h1+tls>', 'https:h1'),
    ...answered('https://localhost:<h1+tls>/'),
  ],
  'fetch over h2': [
    ...connects('localhost:<h2>', 'https:h1', 'https:h2'),
    ...answered('https://localhost:<h2>/'),
  ],
  "the runtime's fetch through the global dispatcher": [
    ...connects('localhost:<global>', 'http:h1'),
    ...answered('http://localhost:<global>/'),
  ],
  'fetch where nobody listens': refused('127.0.0.1:<closed>'),
  'fetch that is hung up on': [
    ...connects('localhost:<failing>', 'http:h1'),
    ...hungUp('http://localhost:<failing>/'),
  ],
  'fetch over h2 that is hung up on': [
    ...connects('localhost:<failing h2>', 'https:h1', 'https:h2'),
    ...hungUp('https://localhost:<failing h2>/'),
  ],
  'fetch that is aborted': [
    ...connects('localhost:<silent>', 'http:h1'),
    ['c', 'sending request to GET http://localhost:<silent>/'],
    ['r', 'request to GET http://localhost:<silent>/ errored - enough'],
  ],
  'WebSocket over h1': [
    ...connects('localhost:<ws>', 'http:h1'),
    ['c', 'sending request to GET http://localhost:<ws>/room'],
    OPENED,
    ['w', 'ping received'],
    closed('ws://localhost:<ws>/room', '3000 bye bye'),
  ],
  'WebSocket over h1 and TLS': [
    ...connects('localhost:<wss>', 'https:h1'),
    ['c', 'sending request to GET https://localhost:<wss>/'],
    OPENED,
    ['w', 'pong received'],
    closed('wss://localhost:<wss>/', '1000 '),
  ],
  'WebSocket over h2': [
    ...connects('localhost:<ws h2>', 'https:h1', 'https:h2'),
    ['c', 'sending request to GET https://localhost:<ws h2>/room'],
    OPENED,
    ['w', 'ping received'],
    closed('wss://localhost:<ws h2>/room', '3000 bye bye'),
  ],
  'WebSocket that the server takes only over h1': [
    ...connects('localhost:<ws old>', 'https:h1', 'https:h2'),
    [
      'r',
      'request to GET https://localhost:<ws old>/room errored - HTTP/2: Extended CONNECT protocol not supported by server',
    ],
    ...connects('localhost:<ws old>', 'https:h1'),
    ['c', 'sending request to GET https://localhost:<ws old>/room'],
    OPENED,
    ['w', 'ping received'],
    closed('wss://localhost:<ws old>/room', '3000 bye bye'),
  ],
  'WebSocket that the server refuses': [
    ...connects('localhost:<ws refusing>', 'http:h1'),
    ['c', 'sending request to GET http://localhost:<ws refusing>/'],
    ['r', 'received response to GET http://localhost:<ws refusing>/ - HTTP 403'],
    ['r', 'request to GET http://localhost:<ws refusing>/ errored - Request aborted'],
    closed('ws://localhost:<ws refusing>/', '1006 '),
  ],
  'WebSocket where nobody listens': [
    ...refused('127.0.0.1:<closed ws>'),
    closed('ws://127.0.0.1:<closed ws>/', '1006 '),
  ],
  'WebSocket that is reset': [
    ...connects('localhost:<ws reset>', 'http:h1'),
    ['c', 'sending request to GET http://localhost:<ws reset>/'],
    OPENED,
    ['w', 'connection errored - read ECONNRESET'],
    closed('ws://localhost:<ws reset>/', '1006 '),
  ],
  'WebSocket that is given up at once': [closed('ws://localhost:4711/', '1006 ')],
}

/** The labels of connection, request and WebSocket lines; null if none is printed. */
const COMBINATIONS: readonly (readonly [string | undefined, string | null, string | null, string | null])[] =
  [
    ['core', 'CORE', 'CORE', null],
    ['fetch', 'FETCH', 'FETCH', null],
    ['websocket', 'WEBSOCKET', null, 'WEBSOCKET'],
    ['core,fetch', 'FETCH', 'FETCH', null],
    ['core,websocket', 'CORE', 'CORE', 'WEBSOCKET'],
    ['fetch,websocket', 'FETCH', 'FETCH', 'WEBSOCKET'],
    ['core,fetch,websocket', 'FETCH', 'FETCH', 'WEBSOCKET'],
    [undefined, null, null, null],
  ]

describe('debug output of fetch and WebSocket', { concurrency: 2 }, () => {
  for (const [flags, connection, request, websocket] of COMBINATIONS) {
    it(`writes the lines of RUNTIME_DEBUG=${flags}`, async () => {
      const expected = expectedLines(SCENES, { c: connection, r: request, w: websocket })
      const { lines } = await runScript('./web-traffic.ts', flags, Object.keys(SCENES))
      assert.deepEqual(lines, expected)
      assert.doesNotMatch(lines.join('\n'), /secret|bob/)
    })
  }
})
