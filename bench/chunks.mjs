// The server of the scenarios "chunks": event streams as language models send them, each event in a chunk. A paced stream
// sends a few events at a time, which is one read for the client; the other writes all at once.

export const PACED_PATH = '/chunks/paced'
export const FULL_PATH = '/chunks/full'

/** Writes of a paced stream, and the time between them: slow enough that no client falls behind and joins them. */
const WRITES = 100
const PERIOD_MS = 4

/** Events of each write: 1 to 8, without a pattern. */
const COUNTS = Array.from({ length: WRITES }, (_, i) => 1 + (((i * 37) % 101) % 8))
export const CHUNKS = COUNTS.reduce((sum, count) => sum + count, 0)

const EVENTS = Array.from({ length: CHUNKS }, (_, index) => {
  const text = ' the next token of a long answer'.slice(0, 4 + ((index * 13) % 29))
  return `event: delta\ndata: ${JSON.stringify({ index, delta: { type: 'text', text } })}\n\n`
})
const LENGTH = EVENTS.join('').length

/** Path → length of the body. */
export const CHUNKED_BODIES = { [PACED_PATH]: LENGTH, [FULL_PATH]: LENGTH }

const HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n'
const PROTOCOL = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nHTTP/1.1'

const PIECES = piecesOf(EVENTS.map((event) => `${event.length.toString(16)}\r\n${event}\r\n`))
const WHOLE = Buffer.concat([Buffer.from(HEAD), ...PIECES])

function piecesOf(chunks) {
  let at = 0
  const pieces = COUNTS.map((count) => {
    at += count
    return Buffer.from(chunks.slice(at - count, at).join(''))
  })
  pieces[WRITES - 1] = Buffer.concat([pieces[WRITES - 1], Buffer.from('0\r\n\r\n')])
  return pieces
}

/** Paced streams: socket → writes so far. */
const paced = new Map()
let timer = null

/** Serves a connection that sends one request at a time, each in one packet. */
export function streamChunks(socket) {
  socket.on('data', (bytes) => {
    const path = bytes.latin1Slice(4, bytes.indexOf(32, 4))
    if (path === FULL_PATH) socket.write(WHOLE)
    else if (path === PACED_PATH) startPaced(socket)
    else socket.write(PROTOCOL)
  })
  socket.on('error', () => {})
  socket.on('close', () => paced.delete(socket))
}

function startPaced(socket) {
  socket.write(HEAD)
  paced.set(socket, 0)
  timer ??= setInterval(writeNext, PERIOD_MS)
}

function writeNext() {
  for (const [socket, count] of paced) {
    socket.write(PIECES[count])
    if (count + 1 === WRITES) paced.delete(socket)
    else paced.set(socket, count + 1)
  }
  if (paced.size === 0) {
    clearInterval(timer)
    timer = null
  }
}
