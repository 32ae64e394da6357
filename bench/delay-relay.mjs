// A TCP relay that forwards every byte after a fixed delay. It delays but does not limit: the two hops on
// loopback have no latency, so TCP windows play no part. The result shows how the client's protocol copes with
// the distance, above all with HTTP/2 windows.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** Bytes in flight in one direction before the relay stops reading. */
const MAX_UNDER_WAY = 64 * 1024 * 1024

/** Resolves to the port on which the relay to `port` listens. */
export async function startRelay(port, oneWayMs) {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    carry(near, far, oneWayMs)
    carry(far, near, oneWayMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

function carry(from, to, oneWayMs) {
  const chunks = []
  let bytes = 0
  let timer = null
  const deliver = () => {
    timer = null
    const now = performance.now()
    while (chunks.length > 0 && chunks[0].due <= now) {
      const { chunk } = chunks.shift()
      if (chunk === null) {
        to.end()
      } else {
        bytes -= chunk.length
        to.write(chunk)
      }
    }
    if (bytes < MAX_UNDER_WAY && to.writableLength < MAX_UNDER_WAY) from.resume()
    if (chunks.length > 0) timer = setTimeout(deliver, Math.max(1, chunks[0].due - now))
  }
  const send = (chunk) => {
    chunks.push({ chunk, due: performance.now() + oneWayMs })
    timer ??= setTimeout(deliver, oneWayMs)
  }
  from.on('data', (chunk) => {
    bytes += chunk.length
    send(chunk)
    if (bytes >= MAX_UNDER_WAY) from.pause()
  })
  to.on('drain', () => from.resume())
  from.on('end', () => send(null))
  from.on('error', () => to.destroy())
  from.on('close', () => {
    if (from.errored === null) return
    clearTimeout(timer)
    to.destroy()
  })
}
