/**
 * A socket that is closed while its bytes still wait for their consumer: the end is reported after they have been
 * consumed, or immediately if they are no longer needed.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { SlabInlet } from '../../src/net/slab-inlet.ts'
import { StreamTransport } from '../../src/net/stream-transport.ts'
import { turns } from '../support/fake-clock.ts'

/** A transport whose consumer is paused, with bytes read and the socket closed meanwhile. */
async function closedWhilePaused(): Promise<{ transport: StreamTransport; heard: string[] }> {
  const inlet = new SlabInlet()
  const { callback } = inlet.options()
  const socket = new Socket()
  inlet.bind(socket)
  const heard: string[] = []
  const transport = new StreamTransport(socket, inlet)
  transport.attach({
    onBytes: (memory, length) => void heard.push(`bytes ${memory.toString('latin1', 0, length)}`),
    onDrain: () => {},
    onEof: () => void heard.push('eof'),
    onTransportClosed: (error) => void heard.push(`closed ${error?.message}`),
  })
  transport.setReading(false)
  callback(4, Buffer.from('late'))
  const closed = once(socket, 'close')
  socket.destroy()
  await closed
  assert.deepEqual(heard, [])
  return { transport, heard }
}

test('bytes that wait are delivered before the end', async () => {
  const { transport, heard } = await closedWhilePaused()
  transport.setReading(true)
  await turns(1)
  assert.deepEqual(heard, ['bytes late', 'eof', 'closed undefined'])
})

test('a transport that is destroyed instead has an end as well', async () => {
  const { transport, heard } = await closedWhilePaused()
  transport.destroy(new Error('given up'))
  await turns(1)
  assert.deepEqual(heard, ['closed given up'])
})
