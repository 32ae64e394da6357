/** What is tried with every real server, whatever the protocol. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Client } from '../../src/index.ts'
import { pattern } from './real-server.ts'

export const LARGE = 50 * 1024 * 1024

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export async function getSmall(client: Client, path: string, expected: Buffer): Promise<void> {
  const { statusCode, headers, body } = await client.request({ path, method: 'GET' })
  assert.equal(statusCode, 200)
  assert.equal(headers['content-length'], String(expected.length))
  assert.deepEqual(Buffer.from(await body.bytes()), expected)
}

export async function head(client: Client, path: string, length: number): Promise<void> {
  const { statusCode, headers, body } = await client.request({ path, method: 'HEAD' })
  assert.equal(statusCode, 200)
  assert.equal(headers['content-length'], String(length))
  assert.equal(await body.text(), '')
}

export async function notFound(client: Client): Promise<void> {
  const { statusCode, body } = await client.request({ path: '/not-there', method: 'GET' })
  assert.equal(statusCode, 404)
  await body.dump()
}

/** Several large bodies at a time, one of them read slowly. */
export async function getLarge(client: Client, path: string, expected: Buffer): Promise<void> {
  const wanted = digest(expected)
  await Promise.all(
    [0, 1, 2].map(async (turn) => {
      const { body } = await client.request({ path, method: 'GET' })
      const hash = createHash('sha256')
      let pieces = 0
      for await (const chunk of body) {
        hash.update(chunk as Buffer)
        if (turn === 0 && ++pieces % 16 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      assert.equal(hash.digest('hex'), wanted)
    }),
  )
}

/** Sends a body and gets it back. */
export async function echo(
  client: Client,
  path: string,
  body: Buffer | Readable,
  sent: Buffer,
): Promise<void> {
  const response = await client.request({ path, method: 'POST', body })
  assert.equal(response.statusCode, 200)
  const received = await response.body.bytes()
  assert.equal(received.length, sent.length)
  assert.equal(digest(received), digest(sent))
}

export async function echoAll(client: Client, path: string): Promise<void> {
  await echo(client, path, Buffer.from('small'), Buffer.from('small'))
  const large = pattern(LARGE)
  await echo(client, path, large, large)
  await echo(client, path, streamOf(large), large)
}

/** In pieces of odd sizes, so that frames and pieces never coincide. */
export function streamOf(content: Buffer): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0, size = 1; at < content.length; at += size, size = (size * 7 + 13) % 70_001) {
        yield content.subarray(at, at + size)
      }
    })(),
    { objectMode: false, highWaterMark: 65_536 },
  )
}

/** A storm that fails and fails is over. */
const ENOUGH_FAILURES = 1_000

export interface Tally {
  succeeded: number
  readonly failures: (Error & { retrySafety?: string })[]
}

/** `concurrency` requests at a time, `each` of them one after another. */
export async function storm(
  client: Client,
  path: string,
  expected: Buffer,
  concurrency: number,
  each: number,
): Promise<Tally> {
  const tally: Tally = { succeeded: 0, failures: [] }
  const text = expected.toString('latin1')
  const one = async (): Promise<void> => {
    for (let i = 0; i < each; i++) {
      try {
        const { statusCode, body } = await client.request({ path, method: 'GET' })
        const received = Buffer.from(await body.bytes()).toString('latin1')
        assert.equal(statusCode, 200)
        assert.equal(received, text)
        tally.succeeded++
      } catch (error) {
        tally.failures.push(error as Error)
        if (tally.failures.length > ENOUGH_FAILURES) return
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, one))
  return tally
}

export function assertAllSucceeded({ failures, succeeded }: Tally, expected: number): void {
  assert.ok(failures.length === 0, `${failures.length} failed, the first: ${failures[0]?.stack}`)
  assert.equal(succeeded, expected)
}

/** Nothing failed that could simply have been sent again. */
export function assertNothingNeedless({ failures }: Tally): void {
  for (const failure of failures) {
    assert.ok(failure.retrySafety !== undefined, `not a failure of a request: ${failure.stack}`)
    assert.notEqual(failure.retrySafety, 'safe', failure.stack)
  }
}
