// The server of the scenario "heads": responses that were recorded from Apache, Caddy, h2o, HAProxy and nginx
// (heads/record.mjs). A connection gets the responses of one of them, in turn. The values that such servers make for each
// response are new each time: date, etag, x-request-id and set-cookie.
import { readFileSync } from 'node:fs'

const RECORDED = JSON.parse(readFileSync(new URL('heads/recorded.json', import.meta.url), 'utf8'))

/** Field → the part of its value that a server makes for each response, or for each second. */
const VARYING = {
  date: /.+/,
  etag: /[\da-z]{8,}/,
  'x-request-id': /[\w@-]{8,}/,
  'set-cookie': /(?<==)[\da-f]{16,}/,
}
const PROTOCOL = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nHTTP/1.1'

/** Templates by server: text between values, and what each value is. */
const SERVERS = [...new Set(RECORDED.map(({ server }) => server))].map((name) =>
  RECORDED.filter(({ server }) => server === name).map(({ response }) => templateOf(response)),
)

function templateOf(response) {
  const texts = ['']
  const values = []
  const headEnd = response.indexOf('\r\n\r\n')
  for (const line of response.slice(0, headEnd).split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const match = VARYING[name]?.exec(line.slice(colon + 2))
    if (match) {
      const at = colon + 2 + match.index
      texts[texts.length - 1] += line.slice(0, at)
      texts.push(`${line.slice(at + match[0].length)}\r\n`)
      values.push({ isDate: name === 'date', length: match[0].length })
    } else {
      texts[texts.length - 1] += `${line}\r\n`
    }
  }
  texts[texts.length - 1] += response.slice(headEnd + 2)
  return { texts, values }
}

let connections = 0
let count = Math.floor(Math.random() * 2 ** 40)
let date = { second: 0, text: '' }

/** Serves a connection that sends one request at a time, each without a body and in one packet. */
export function replayHeads(socket) {
  const templates = SERVERS[connections++ % SERVERS.length]
  let next = 0
  socket.on('data', (bytes) => {
    const isProtocol = bytes.latin1Slice(4, 14) === '/protocol '
    socket.write(isProtocol ? PROTOCOL : fill(templates[next++ % templates.length]), 'latin1')
  })
  socket.on('error', () => {})
}

function fill({ texts, values }) {
  const id = (++count).toString(16).padStart(16, '0')
  let response = texts[0]
  for (let i = 0; i < values.length; i++) {
    const { isDate, length } = values[i]
    response += (isDate ? dateNow() : (id + id + id).slice(-length)) + texts[i + 1]
  }
  return response
}

function dateNow() {
  const second = Math.floor(Date.now() / 1000)
  if (second !== date.second) date = { second, text: new Date().toUTCString() }
  return date.text
}
