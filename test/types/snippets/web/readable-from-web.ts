// The body of a response in streams of Node.js.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import { createGunzip } from 'node:zlib'
import { fetch } from 'undici'

export async function unzip(url: string): Promise<Buffer> {
  const response = await fetch(url)
  if (response.body === null) throw new Error('empty')
  const chunks: Buffer[] = []
  await pipeline(Readable.fromWeb(response.body), createGunzip(), async (source) => {
    for await (const chunk of source) chunks.push(chunk as Buffer)
  })
  return Buffer.concat(chunks)
}
export async function first(url: string): Promise<Uint8Array | undefined> {
  const { body } = await fetch(url)
  const reader = (body as NodeStream<Uint8Array>).getReader()
  const { value, done } = await reader.read()
  reader.releaseLock()
  return done ? undefined : value
}
