/**
 * Conversations recorded from the Autobahn fuzzing server: its bytes are replayed, and each of our frames must match the
 * recorded one. The client echoes, as the client in the recording did. Without the vectors, these tests are skipped.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadVectors } from '../support/vectors.ts'
import { closed, startRawServer } from '../websocket/raw-server.ts'

type Step =
  | { readonly s: string }
  | { readonly c: { readonly fin: number; readonly op: number; readonly hex: string } }
  | { readonly closed: string }

interface Vector {
  readonly id: string
  readonly description: string
  readonly events: readonly Step[]
  readonly clientSawClose: number
  readonly expectedClose: { readonly closeCode: readonly number[]; readonly requireClean: boolean }
}

const { data, skip } = loadVectors<{ vectors: readonly Vector[] }>('ws-autobahn.json', { vectors: [] })

describe('Autobahn conversations', { skip }, () => {
  for (const { id, description, events, clientSawClose, expectedClose } of data.vectors) {
    it(`${id}: ${description}`, async (t) => {
      const raw = await startRawServer(t)
      const [socket, peer] = await raw.pair()
      socket.onmessage = ({ data }) => socket.send(data as string | ArrayBuffer)
      const close = closed(socket)
      for (const step of events) {
        if ('s' in step) {
          if (peer.socket.writable) peer.send(Buffer.from(step.s, 'hex'))
        } else if ('c' in step) {
          const { op, hex } = step.c
          const frame = await peer.frame()
          assert.ok(frame !== null, `no frame where ${op} ${hex} was recorded`)
          assert.ok(frame.fin && frame.masked && frame.rsv === 0)
          assert.equal(frame.opcode, op)
          // The recorded client sends no reason with its code; ours may.
          const payload = op === 8 ? frame.payload.subarray(0, hex.length / 2) : frame.payload
          assert.equal(payload.toString('hex'), hex)
          if (op === 8 && payload.length > 0) {
            assert.ok(expectedClose.closeCode.includes(payload.readUInt16BE(0)))
          }
        }
      }
      assert.equal(await peer.frame(), null)
      const { code, wasClean } = await close
      assert.equal(code, clientSawClose)
      if (expectedClose.requireClean) assert.ok(wasClean)
    })
  }
})
