/**
 * A WebSocket connection on an in-memory socket, with the real inflater: messages and closure depend on the bytes alone,
 * and it closes exactly once after the peer has closed.
 */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Duplex } from 'node:stream'
import { WebSocketConnection } from '../../../src/websocket/connection.ts'
import type { Opened } from '../../../src/websocket/opening-handshake.ts'
import type { Recording } from '../corpus.ts'
import { cut } from '../mutator.ts'
import type { Random } from '../random.ts'
import type { Target } from '../target.ts'

const LIMITS = { maxFragments: 8, maxPayloadSize: 1_500 }

class Wire extends Duplex {
  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    assert.ok((chunk[1]! & 0x80) !== 0, 'a client masks')
    done()
  }
}

/** What the channels publish about a ping or a pong. */
interface Frame {
  readonly websocket: object
  readonly payload: Buffer
}

/** The events that the user of the connection sees. */
async function talk(context: string, pieces: readonly Buffer[]): Promise<string[]> {
  const seen: string[] = []
  const noContext = context === 'deflate-no-context'
  const deflate = {
    serverWindowBits: 15,
    serverNoContextTakeover: noContext,
    clientWindowBits: 15,
    clientNoContextTakeover: noContext,
  }
  const wire = new Wire()
  const onPing = (message: unknown): void => note('ping', message as Frame)
  const onPong = (message: unknown): void => note('pong', message as Frame)
  const note = (kind: string, { websocket, payload }: Frame): void => {
    if (websocket === wire) seen.push(`${kind} ${payload.toString('hex')}`)
  }
  wire.on('error', ({ message }) => seen.push(`socket error ${message}`))
  subscribe('undici:websocket:ping', onPing)
  subscribe('undici:websocket:pong', onPong)
  const opened = {
    socket: wire as Duplex,
    agreement: { deflate: context === 'none' ? null : deflate },
  } as Opened
  await new Promise<void>((resolve) => {
    const connection = new WebSocketConnection(wire, opened, LIMITS, {
      onMessage: (data) => {
        assert.ok(Buffer.byteLength(data) <= LIMITS.maxPayloadSize)
        seen.push(typeof data === 'string' ? `text ${data}` : `binary ${data.toString('hex')}`)
      },
      onClosing: () => {},
      onClosed: ({ code, reason, wasClean, error }) => {
        // Of two faults in compressed data, the one for which the inflater has produced enough output is found first.
        const fault = error === null || context === 'none' ? error?.message : 'some fault'
        seen.push(`closed ${code} ${reason} ${wasClean} ${fault}`)
        resolve()
      },
    })
    connection.start()
    for (const piece of pieces) wire.push(piece)
    wire.push(null)
  })
  unsubscribe('undici:websocket:ping', onPing)
  unsubscribe('undici:websocket:pong', onPong)
  return seen
}

async function check({ context, bytes }: Recording, random: Random): Promise<void> {
  const whole = await talk(context, bytes.length === 0 ? [] : [bytes])
  const pieces = await talk(context, cut(bytes, random))
  assert.deepEqual(pieces, whole, 'the same bytes in other pieces')
  assert.equal(whole.filter((line) => line.startsWith('closed ')).length, 1)
  assert.ok(whole.at(-1)!.startsWith('closed '))
}

export const webSocketConnection: Target = { name: 'websocket-connection', corpus: 'websocket', check }
