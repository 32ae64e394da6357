/** Requests and bodies that are tested with every real server, over any protocol. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { type Client, errors, type RequestErrorContext } from '../../src/index.ts'
import { digest, LARGE, SMALL, streamOf } from './content.ts'

export async function getSmall(client: Client): Promise<void> {
  const { statusCode, headers, body } = await client.request({ path: '/small.txt', method: 'GET' })
  assert.equal(statusCode, 200)
  assert.equal(headers['content-length'], String(SMALL.length))
  assert.deepEqual(Buffer.from(await body.bytes()), SMALL)
}

/** Keeps the connection, which HEAD closes by default over HTTP/1.1. */
export async function head(client: Client): Promise<void> {
  const { statusCode, headers, body } = await client.request({
    path: '/small.txt',
    method: 'HEAD',
    reset: false,
  })
  assert.equal(statusCode, 200)
  assert.equal(headers['content-length'], String(SMALL.length))
  assert.equal(await body.text(), '')
}

export async function notFound(client: Client): Promise<void> {
  const { statusCode, body } = await client.request({ path: '/not-there', method: 'GET' })
  assert.equal(statusCode, 404)
  await body.dump()
}

/** 204, from the backend. */
export async function noContent(client: Client): Promise<void> {
  const { statusCode, body } = await client.request({ path: '/backend/empty', method: 'GET' })
  assert.equal(statusCode, 204)
  assert.equal(await body.text(), '')
}

/** 304, with the tag that the server itself sent. */
export async function notModified(client: Client): Promise<void> {
  const first = await client.request({ path: '/small.txt', method: 'GET' })
  await first.body.dump()
  const tag = first.headers['etag']
  assert.equal(typeof tag, 'string')
  const { statusCode, body } = await client.request({
    path: '/small.txt',
    method: 'GET',
    headers: { 'if-none-match': tag },
  })
  assert.equal(statusCode, 304)
  assert.equal(await body.text(), '')
}

/** Several large bodies at a time, one of them read slowly. */
export async function getLarge(client: Client): Promise<void> {
  const wanted = digest(LARGE)
  await Promise.all(
    [0, 1, 2].map(async (turn) => {
      const { body } = await client.request({ path: '/large.bin', method: 'GET' })
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

/** Sends a body and receives its echo. */
async function echo(
  client: Client,
  path: string,
  body: Buffer | Readable,
  sent: Buffer,
  headers: Record<string, string> = {},
): Promise<void> {
  const response = await client.request({ path, method: 'POST', body, headers })
  assert.equal(response.statusCode, 200)
  const received = await response.body.bytes()
  assert.equal(received.length, sent.length)
  assert.equal(digest(received), digest(sent))
}

/** Repeats what fails because the server ends a response early. */
async function withAttempts(attempts: number, transfer: () => Promise<void>): Promise<void> {
  for (let left = attempts - 1; ; left--) {
    try {
      return await transfer()
    } catch (error) {
      if (left === 0 || !(error instanceof errors.SocketError) || error.phase !== 'body') throw error
    }
  }
}

export async function echoAll(client: Client, path: string, attempts = 1): Promise<void> {
  await echoKnown(client, path, attempts)
  await withAttempts(attempts, () => echo(client, path, streamOf(LARGE), LARGE))
}

/** Bodies of announced length. */
export async function echoKnown(client: Client, path: string, attempts = 1): Promise<void> {
  const length = { 'content-length': String(LARGE.length) }
  await echo(client, path, Buffer.from('small'), Buffer.from('small'))
  await withAttempts(attempts, () => echo(client, path, LARGE, LARGE))
  await withAttempts(attempts, () => echo(client, path, streamOf(LARGE), LARGE, length))
}

/** A body of unannounced length is refused, and the client continues. */
export async function lengthRequired(client: Client, path: string): Promise<void> {
  const { statusCode, body } = await client.request({ path, method: 'POST', body: streamOf(LARGE) })
  assert.equal(statusCode, 411)
  await body.dump()
  await getSmall(client)
}

type ClosingError = Error & RequestErrorContext & { code: string }

/** Whether the server closed the connection of a request, in one of the ways that the system reports. */
export function isClosing(error: unknown): error is ClosingError {
  return error instanceof Error && /^(?:EPIPE|ECONNRESET|UND_ERR_SOCKET)$/.test((error as ClosingError).code)
}

/**
 * The client continues, if necessary on another connection. A server that does not want the rest of a body may close the
 * connection that it has just promised to keep: nobody can know then whether it has seen the next request.
 */
export async function goOn(client: Client): Promise<void> {
  try {
    await getSmall(client)
  } catch (error) {
    if (!isClosing(error) || !error.reusedSocket) throw error
    await getSmall(client)
  }
}

/** Aborts a large body in the middle; the client continues, if necessary on another connection. */
export async function abandonLarge(client: Client, mayStumble = false): Promise<void> {
  const { body } = await client.request({ path: '/large.bin', method: 'GET' })
  for await (const _ of body) break
  await (mayStumble ? goOn(client) : getSmall(client))
}
