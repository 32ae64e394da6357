/** A body that waits for the word of its server (`expectContinue`), over any wire: asked for, sent unasked, refused. */
import assert from 'node:assert/strict'
import type { Client, DispatchOptions } from '../../src/index.ts'
import { digest, LARGE, SMALL } from './content.ts'
import { getSmall, goOn, isClosing } from './transfers.ts'

/** Longer than any server here thinks. */
const NEVER = 100_000

const SIZES = [SMALL, LARGE]

/** Pieces, and whether anybody wanted them. */
class WatchedBody {
  isRead = false
  readonly #content: Buffer

  constructor(content: Buffer) {
    this.#content = content
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    this.isRead = true
    const size = Math.ceil(this.#content.length / 8)
    for (let at = 0; at < this.#content.length; at += size) yield this.#content.subarray(at, at + size)
  }
}

function post(path: string, content: Buffer, more: Partial<DispatchOptions>): DispatchOptions {
  const headers = { 'content-length': String(content.length) }
  return { path, method: 'POST', headers, expectContinue: true, ...more }
}

/** Bodies in one piece and in several come back. `asks`: the server asks for them; others get them after a while. */
export async function accepted(client: Client, path: string, asks: boolean): Promise<void> {
  const expectContinueTimeout = asks ? NEVER : 200
  for (const content of SIZES) {
    for (const given of [content, new WatchedBody(content)]) {
      const options = post(path, content, { body: given, expectContinueTimeout })
      const { statusCode, body } = await client.request(options)
      assert.equal(statusCode, 200)
      assert.equal(digest(await body.bytes()), digest(content))
    }
  }
}

/** The answer comes at once, nothing of the body is sent, and the client continues. */
export async function refused(client: Client, path: string, status: number): Promise<void> {
  for (const content of SIZES) {
    const given = new WatchedBody(content)
    const options = post(path, content, { body: given, expectContinueTimeout: NEVER })
    const { statusCode, body } = await client.request(options)
    assert.equal(statusCode, status)
    await body.dump()
    assert.equal(given.isRead, false)
    await getSmall(client)
  }
}

/** A server that asks for the body, and refuses it then, may close the connection before it has read all of it. */
export async function refusedLate(client: Client, path: string): Promise<void> {
  try {
    const { statusCode, body } = await client.request(post(path, LARGE, { body: LARGE }))
    assert.ok(statusCode >= 400, String(statusCode))
    await body.dump()
  } catch (error) {
    if (!isClosing(error)) throw error
  }
  await goOn(client)
}
