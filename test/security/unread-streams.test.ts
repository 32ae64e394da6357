/**
 * What a server takes from a client by sending single bytes that nobody reads, on as many streams as it likes: seen from
 * outside, in processes that do nothing else.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DATA } from '../../src/protocol/http2/constants.ts'
import { frameBytes } from '../support/frame-peer.ts'
import { type H2Peer, startH2Server } from '../support/h2-server.ts'
import { UNLESS_INSTRUMENTED } from '../support/instrumented.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

/** As much as a server may send on one stream that nobody reads from. */
const WINDOW = 262_144
const FRAME = 10
const SINGLES = Buffer.concat(Array<Buffer>(WINDOW).fill(frameBytes(DATA, 0, 1, Buffer.from('x'))))

interface Run {
  readonly peer: H2Peer
  /** The program may go on. */
  go(): void
  /** The bytes of memory that it reports; fails if it ends otherwise. */
  readonly report: Promise<number>
}

/** Starts the careless client, and answers its first request. */
async function run(
  t: TestContext,
  task: 'unread' | 'text',
  count: number,
  flags: readonly string[] = [],
): Promise<Run> {
  const server = await startH2Server(t)
  const program = fileURLToPath(sourceUrl('test/security/careless-client.ts'))
  const child = spawn(
    process.execPath,
    [...flags, ...sourceLoader, program, server.url, task, String(count)],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  )
  let told: number | null = null
  child.once('message', (bytes: number) => {
    told = bytes
  })
  const report = once(child, 'exit').then(([code, signal]) => {
    assert.deepEqual([code, signal], [0, null])
    assert.ok(told !== null, 'the program told nothing')
    return told
  })
  const peer = (await Promise.race([server.accept(), report])) as H2Peer
  peer.respond((await peer.request()).id)
  return { peer, go: () => child.send('go'), report }
}

/** A window full of frames of one byte, and the client has read them. */
async function sendSingles(peer: H2Peer, id: number): Promise<void> {
  for (let at = 5; at < SINGLES.length; at += FRAME) SINGLES.writeUInt32BE(id, at)
  peer.socket.write(SINGLES)
  await peer.settled()
}

async function unread(t: TestContext, count: number, flags?: readonly string[]): Promise<number> {
  const { peer, go, report } = await run(t, 'unread', count, flags)
  const requests = await peer.take(count)
  for (const { id } of requests) peer.head(id, 200)
  for (const { id } of requests) await Promise.race([sendSingles(peer, id), report])
  go()
  return report
}

test('100 unread streams of single bytes take less than 64 MB', UNLESS_INSTRUMENTED, async (t) => {
  const held = await unread(t, 100)
  assert.ok(held < 64e6, `${held} bytes`)
})

test('40 of them do not end a process with a heap of 128 MB', UNLESS_INSTRUMENTED, async (t) => {
  const held = await unread(t, 40, ['--max-old-space-size=128'])
  assert.ok(held < 0.4 * 64e6, `${held} bytes`)
})

test('text() of 2 MB in single bytes never takes 60 MB', UNLESS_INSTRUMENTED, async (t) => {
  const parts = 8
  const { peer, report } = await run(t, 'text', parts * WINDOW)
  const { id } = await peer.request()
  peer.head(id, 200)
  for (let i = 0; i < parts; i++) await Promise.race([sendSingles(peer, id), report])
  peer.data(id, '', true)
  const most = await report
  assert.ok(most < 60e6, `${most} bytes`)
})
