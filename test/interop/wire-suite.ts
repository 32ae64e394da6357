/** The suite for every wire that a server offers. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { Client } from '../../src/index.ts'
import { HINT, TRAILED_TEXT, TRAILER } from './backend.ts'
import { digest } from './content.ts'
import { accepted, refused, refusedLate } from './expectations.ts'
import { assertAllSucceeded, Load } from './load.ts'
import { multiplexes, WIRES, type Wire } from './real-server.ts'
import type { RunningServer } from './running-server.ts'
import {
  abandonLarge,
  echoAll,
  echoKnown,
  getLarge,
  getSmall,
  head,
  lengthRequired,
  noContent,
  notFound,
  notModified,
} from './transfers.ts'

/** More than any of the servers accepts on one connection. */
const CONCURRENCY = 150
/** Over HTTP/1.1 they all wait for each other. */
const TOTAL = { multiplexed: 2_000, inTurn: 500 } as const
const PIPELINE = 8

export function wireSuite(running: RunningServer): void {
  for (const wire of WIRES) describe(wire, () => wireTests(running, wire))
}

function wireTests(running: RunningServer, wire: Wire): void {
  const { server } = running
  let client: Client

  before(() => {
    client = running.open(wire)
  })

  test('bodies, HEAD, 204, 304 and 404, all on one connection', async () => {
    let connections = 0
    const fresh = running.open(wire)
    fresh.on('connect', () => connections++)
    for (const ask of [getSmall, head, noContent, notModified, notFound, getSmall]) await ask(fresh)
    await fresh.close()
    assert.equal(connections, 1)
  })

  test('large bodies, three at a time', () => getLarge(client))
  if (server.wantsLength?.includes(wire)) {
    test('large bodies of bytes and of streams come back', () => echoKnown(client, '/backend/echo'))
    test('411 for a body of unknown length', () => lengthRequired(client, '/backend/echo'))
  } else {
    test('large bodies of bytes and of streams come back', () =>
      echoAll(client, '/backend/echo', server.breaksEchoes?.includes(wire) ? 5 : 1))
  }
  const asks = server.asksForBodies?.includes(wire) ?? false
  test(`a body that is held back is ${asks ? 'asked for' : 'sent after a while'}`, () =>
    accepted(client, '/backend/echo', asks))
  test('a body that is held back is refused for its path', () => refusedLate(client, '/not-there'))
  test('a body that is held back is refused by the backend', () => refusedLate(client, '/backend/refused'))
  const { refusal } = server
  if (refusal?.wires.includes(wire)) {
    test(`${refusal.status}: nothing of a body that is held back is sent`, () =>
      refused(client, refusal.path, refusal.status))
  }
  if (server.duplex.includes(wire)) {
    test('and come back while they are being sent', () => echoAll(client, '/backend/echo/duplex'))
  }
  test('a large body is given up in the middle', () =>
    abandonLarge(client, server.stumblesAtReset?.includes(wire) ?? false))

  const total = multiplexes(wire) ? TOTAL.multiplexed : TOTAL.inTurn
  test(`${CONCURRENCY} at a time, ${total} in all, on one connection`, async () => {
    let connections = 0
    const busy = running.open(wire)
    busy.on('connect', () => connections++)
    const load = await new Load(busy, CONCURRENCY, total).end()
    await busy.close()
    assertAllSucceeded(load, total)
    assert.equal(connections, 1)
  })

  if (!multiplexes(wire)) {
    test('pipelining: several on the way, answered in order', () => pipelined(running, wire))
  }
  if (wire === 'h2c') {
    test('a Client with useH2c speaks it, too', async () => {
      const other = running.keep(new Client(running.site.h2c, { useH2c: true }))
      const asked = [getSmall(other), getSmall(other), getSmall(other)]
      await Promise.all(asked)
      await echoKnown(other, '/backend/echo')
      await other.close()
    })
  }

  if (server.trailers[wire] !== 'broken') {
    test(`trailers of the backend are ${server.trailers[wire]}`, () => trailers(running, wire, client))
  }
  if (server.earlyHints[wire] !== 'broken') {
    test(`103 of the backend is ${server.earlyHints[wire]}`, () => earlyHints(running, wire, client))
  }
}

async function pipelined(running: RunningServer, wire: Wire): Promise<void> {
  const client = running.open(wire, { pipelining: PIPELINE })
  let connections = 0
  let mostRunning = 0
  client.on('connect', () => connections++)
  const ask = async (path: string): Promise<number> => {
    const { statusCode, body } = await client.request({ path, method: 'GET', blocking: false })
    mostRunning = Math.max(mostRunning, client.stats.running)
    await body.dump()
    return statusCode
  }
  const paths = Array.from({ length: 30 }, () => ['/small.txt', '/not-there', '/small.txt']).flat()
  const answers = await Promise.all(paths.map(ask))
  await client.close()
  assert.deepEqual(
    answers,
    paths.map((path) => (path === '/small.txt' ? 200 : 404)),
  )
  assert.equal(connections, 1)
  assert.ok(mostRunning > 1, 'one at a time')
}

async function trailers(running: RunningServer, wire: Wire, client: Client): Promise<void> {
  const { statusCode, body, trailers } = await client.request({
    path: '/backend/trailers',
    method: 'GET',
    headers: { te: 'trailers' },
  })
  assert.equal(statusCode, 200)
  assert.equal(await body.text(), TRAILED_TEXT)
  const expected = { [TRAILER]: digest(Buffer.from(TRAILED_TEXT)) }
  // A later version may forward what this one drops.
  const dropped = running.server.trailers[wire] === 'dropped' && Object.keys(trailers).length === 0
  if (!dropped) assert.deepEqual({ ...trailers }, expected)
}

async function earlyHints(running: RunningServer, wire: Wire, client: Client): Promise<void> {
  const hints: { statusCode: number; link: unknown }[] = []
  const { statusCode, body } = await client.request({
    path: '/backend/early-hints',
    method: 'GET',
    onInfo: ({ statusCode, headers }) =>
      hints.push({ statusCode, link: (headers as Record<string, unknown>)['link'] }),
  })
  assert.equal(statusCode, 200)
  assert.equal(await body.text(), 'ready')
  const dropped = running.server.earlyHints[wire] === 'dropped' && hints.length === 0
  if (!dropped) assert.deepEqual(hints, [{ statusCode: 103, link: HINT }])
}
