/** The ways in which callers treat a response body: read it in every way, partly, late, or not at all. */
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BodyReadable } from '../../src/index.ts'
import type { Random } from './random.ts'

/** Ways that end with the whole body, which must be correct, or with an error. */
export const WHOLE = {
  text: 6,
  bytes: 2,
  blob: 1,
  iterate: 3,
  'iterate and give away': 2,
  data: 2,
  'data and give away': 2,
  readable: 2,
  pipe: 2,
  pipeline: 2,
  web: 2,
  'late text': 2,
} as const

/** Ways that end earlier, or with nothing. */
export const PARTLY = { unread: 8, half: 2, dump: 2, destroy: 2, 'destroy late': 2 } as const

export type Way = keyof typeof WHOLE | keyof typeof PARTLY

/** Milliseconds after which a late caller starts to read. */
const LATEST = 2_000

/** Callers that stop halfway release the connection; others occupy it until then. */
export function holdsConnection(way: Way): boolean {
  return way === 'destroy late' || way === 'late text'
}

/** Returns the data that was read, or rejects with the error. */
export async function read(body: BodyReadable, way: Way, random: Random): Promise<string> {
  switch (way) {
    case 'text':
      return await body.text()
    case 'bytes':
      return text(await body.bytes())
    case 'blob':
      return await (await body.blob()).text()
    case 'iterate':
    case 'iterate and give away':
      return await iterated(body, way === 'iterate and give away')
    case 'data':
    case 'data and give away':
      return await listened(body, way === 'data and give away')
    case 'readable':
      return await pulled(body)
    case 'pipe':
      return await piped(body)
    case 'pipeline':
      return await throughPipeline(body)
    case 'web':
      return await new Response(body.body as unknown as ReadableStream).text()
    case 'late text':
      await later(random)
      return await body.text()
    case 'unread':
      return ''
    case 'half':
      for await (const chunk of body) return text(chunk as Buffer)
      return ''
    case 'dump':
      await body.dump()
      return ''
    case 'destroy late':
      await later(random)
      body.destroy()
      return ''
    case 'destroy':
      body.destroy()
      return ''
  }
}

/** Uses the clock of the run. */
export function later(random: Random): Promise<void> {
  return new Promise((resolve) => globalThis.setTimeout(resolve, random.between(1, LATEST)))
}

export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/** Transfers memory, as a message to a worker does. Shared memory cannot be transferred. */
export function giveAway(chunk: Uint8Array): void {
  try {
    structuredClone(chunk.buffer, { transfer: [chunk.buffer as ArrayBuffer] })
  } catch (error) {
    if ((error as Error).name !== 'DataCloneError') throw error
  }
}

async function iterated(body: BodyReadable, gives: boolean): Promise<string> {
  let all = ''
  for await (const chunk of body) {
    all += text(chunk as Buffer)
    if (gives) giveAway(chunk as Buffer)
  }
  return all
}

/** A caller that only waits for `close` checks afterwards. */
function closed(body: BodyReadable, all: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      if (body.readableEnded) resolve(all())
      else reject(body.errored ?? new Error('closed before its end'))
    }
    if (body.closed) settle()
    else body.on('close', settle)
  })
}

function listened(body: BodyReadable, gives: boolean): Promise<string> {
  let all = ''
  body.on('data', (chunk: Buffer) => {
    all += text(chunk)
    if (gives) giveAway(chunk)
  })
  return closed(body, () => all)
}

function pulled(body: BodyReadable): Promise<string> {
  let all = ''
  body.on('readable', () => {
    for (let chunk = body.read(); chunk !== null; chunk = body.read()) all += text(chunk as Buffer)
  })
  return closed(body, () => all)
}

async function piped(body: BodyReadable): Promise<string> {
  let all = ''
  const target = new PassThrough()
  target.on('data', (chunk: Buffer) => {
    all += text(chunk)
  })
  const ended = new Promise<void>((resolve) => target.on('end', resolve))
  body.pipe(target)
  await closed(body, () => '')
  await ended
  return all
}

async function throughPipeline(body: BodyReadable): Promise<string> {
  let all = ''
  await pipeline(body, async (source) => {
    for await (const chunk of source) all += text(chunk as Buffer)
  })
  return all
}
