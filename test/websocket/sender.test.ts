import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, it } from 'node:test'
import type { MessageDeflater } from '../../src/websocket/message-deflater.ts'
import { Sender } from '../../src/websocket/sender.ts'
import { turns } from '../support/fake-clock.ts'

type Done = (error: Error | null, deflated: Buffer | null) => void

function setUp(): {
  sender: Sender
  frames: Buffer[]
  failures: Error[]
  compressions: Done[]
  socket: Writable
} {
  const frames: Buffer[] = []
  const failures: Error[] = []
  const compressions: Done[] = []
  const socket = new Writable({
    write(chunk: Buffer, _encoding, done) {
      frames.push(chunk)
      done()
    },
  })
  const deflater = {
    wants: () => true,
    deflate: (_: Uint8Array, done: Done) => void compressions.push(done),
    close: () => {},
  } as unknown as MessageDeflater
  const sender = new Sender(socket as never, deflater, (error) => void failures.push(error))
  return { sender, frames, failures, compressions, socket }
}

describe('Sender', () => {
  it('a compressor that fails is reported, and what is behind it is not sent', async () => {
    const { sender, frames, failures, compressions } = setUp()
    sender.text('one')
    sender.ping(Buffer.alloc(0))
    const reason = new Error('deflate')
    compressions[0]!(reason, null)
    sender.abort(1011, '')
    await turns(1)
    assert.deepEqual(failures, [reason])
    assert.equal(frames.length, 1)
    assert.equal(frames[0]![0], 0x88)
  })

  it('what was being compressed when it was stopped is forgotten', async () => {
    const { sender, frames, compressions } = setUp()
    sender.text('one')
    sender.stop()
    compressions[0]!(null, null)
    sender.text('two')
    sender.pong(Buffer.alloc(0))
    await turns(1)
    assert.deepEqual(frames, [])
    assert.equal(compressions.length, 1)
  })

  it('nothing is written to a socket that has ended', async () => {
    const { sender, frames, socket } = setUp()
    socket.end()
    let written = false
    sender.close(1000, '', () => {
      written = true
    })
    await turns(1)
    assert.deepEqual([frames.length, written], [0, false])
  })

  it('what could not be written stays buffered', async () => {
    const socket = new Writable({ write: (_chunk, _encoding, done) => done(new Error('broken')) })
    socket.on('error', () => {})
    const sender = new Sender(socket as never, null, () => {})
    sender.text('four')
    await turns(2)
    assert.equal(sender.buffered, 4)
  })
})
