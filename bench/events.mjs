// The event stream of the scenario "sse": 100 MB of events as language models send them.
import { closeSync, openSync, writeSync } from 'node:fs'

const BYTES = 100e6

const EVENT = `id: 41\nevent: message\ndata: ${JSON.stringify({ index: 0, delta: { type: 'text', text: ' the next token' } })}\n\n`

export const EVENT_COUNT = Math.ceil(BYTES / EVENT.length)

/** Events that are written at a time. */
const PIECE = 10_000

export function writeEvents(path) {
  const piece = Buffer.from(EVENT.repeat(PIECE))
  const file = openSync(path, 'w')
  for (let left = EVENT_COUNT; left > 0; left -= PIECE) {
    writeSync(file, piece, 0, Math.min(left, PIECE) * EVENT.length)
  }
  closeSync(file)
}
