/**
 * A server that reloads its configuration under load: the old process announces its end and finishes its requests, a new
 * one takes new requests.
 *
 * Over HTTP/2, GOAWAY identifies the requests that were not processed (RFC 9113 §6.8), so none may fail. Over HTTP/1.1 a
 * server may close a connection while the next request is already in flight. It is unknown whether that was read, so the
 * library does not send it again automatically. The error reports that, the caller of an idempotent request repeats it,
 * and it affects at most the one request in flight.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Client } from '../../src/index.ts'
import { assertAllSucceeded, assertNothingNeedless, Load } from './load.ts'
import { multiplexes, type Site, WIRES, type Wire } from './real-server.ts'
import type { RunningServer } from './running-server.ts'
import { getSmall } from './transfers.ts'

const CONCURRENCY = 50
/** Between two reloads, so that no request meets more than one. */
const PROGRESS = 300

export interface Reload {
  /** Makes the server reload its configuration. */
  readonly signal: NodeJS.Signals
  /** Number of reloads for each wire. */
  readonly times: number
  /** The wires on which the old process ends connections with unanswered requests. */
  readonly drops: readonly Wire[]
  /** The old process puts frames of the client into its last DATA frames. */
  readonly mixes?: boolean
}

export function reloadSuite<S extends Site>(running: RunningServer<S>, reload: Reload): void {
  describe('reload', () => {
    for (const wire of WIRES) {
      test(`${wire}: under load`, (t) => underLoad(t, running, wire, reload))
      test(`${wire}: what has begun is finished`, () => finishesWhatItHas(running, wire, reload))
    }
  })
}

async function underLoad<S extends Site>(
  t: TestContext,
  running: RunningServer<S>,
  wire: Wire,
  { signal, times, drops, mixes = false }: Reload,
): Promise<void> {
  const client = running.open(wire)
  let lost = 0
  client.on('disconnect', () => lost++)
  const load = new Load(client, CONCURRENCY)
  await load.progress(PROGRESS)
  for (let turn = 0; turn < times; turn++) {
    await running.site.process.signal(signal, turnoverOf(client))
    await load.progress(PROGRESS)
  }
  await load.stop()
  const { failures, succeeded, mixed } = load
  t.diagnostic(
    `${wire}: ${times} reloads, ${lost} connections ended, ${succeeded} requests succeeded, ` +
      `${failures.length} failed, ${mixed} mixed`,
  )
  if (!mixes) assert.equal(mixed, 0)
  if (multiplexes(wire) && !drops.includes(wire)) {
    assertAllSucceeded(load)
  } else {
    assertNothingNeedless(load)
    const underWay = multiplexes(wire) ? CONCURRENCY : 1
    assert.ok(failures.length <= lost * underWay, `${failures.length} failed: ${failures[0]?.stack}`)
    for (const _ of failures) await getSmall(client)
  }
  await client.close()
}

/** A slow response finishes on the old connection, while new requests go to a new one. */
async function finishesWhatItHas<S extends Site>(
  running: RunningServer<S>,
  wire: Wire,
  { signal }: Reload,
): Promise<void> {
  const client = running.open(wire)
  const other = running.open(wire)
  await getSmall(other)
  const slow = client.request({ path: '/backend/held', method: 'GET' })
  await running.backend.heldOne()
  // An idle connection is notified immediately, or with its next response.
  const load = new Load(other, 1)
  await running.site.process.signal(signal, turnoverOf(other))
  await load.stop()
  running.backend.release()
  const { statusCode, body } = await slow
  assert.equal(statusCode, 200)
  assert.equal(await body.text(), 'at last')
  await Promise.all([client.close(), other.close()])
}

function turnoverOf(client: Client): Promise<unknown> {
  return new Promise((resolve) => client.once('disconnect', resolve))
}
