/**
 * Whether the functions of a caller run in the AsyncLocalStorage context of their own call: calls that note where their
 * callbacks run, made several at once over a connection that yet another one has opened.
 */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import type http from 'node:http'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { DispatchController, Dispatcher, DispatchHandler } from '../../src/index.ts'
import { startOrigin, type Wire } from './wire.ts'

export const storage = new AsyncLocalStorage<string>()

/** Notes in which context a callback runs. */
export type Note = (kind: string) => void

export interface Stage {
  readonly client: Dispatcher
  readonly url: string
  readonly wire: Wire
}

/** One call: resolves when all its callbacks have run. */
export type Call = (stage: Stage, note: Note) => Promise<unknown>

export const GET = { path: '/', method: 'GET' } as const

/** Sends a 103, then the body in pieces, each in its own turn: those of several responses mix. */
export async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  request.resume()
  try {
    await once(request, 'end')
  } catch {
    return // The client has given it up.
  }
  if (request.url === '/reset') {
    response.writeHead(200)
    response.write('part')
    setImmediate(() => response.destroy())
    return
  }
  if (request.url === '/none') {
    response.writeHead(204)
    response.end()
    return
  }
  if (request.url === '/fresh') {
    response.writeHead(200, { 'cache-control': 'max-age=60' })
    response.end('x')
    return
  }
  if (request.url === '/cookie') {
    response.writeHead(200, { 'set-cookie': 'a=b' })
    response.end('x')
    return
  }
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: one\n\n')
    return
  }
  if (request.url === '/busy' && request.headers['x-again'] === undefined) {
    response.writeHead(503)
    response.end()
    return
  }
  if (request.url === '/moved') {
    response.writeHead(302, { location: '/' })
    response.end()
    return
  }
  response.writeEarlyHints({ link: '</style.css>; rel=preload' })
  for (const piece of ['one', 'two', 'three']) {
    await new Promise(setImmediate)
    response.write(piece)
  }
  response.end()
}

export function source(note: Note): Readable {
  let left = 3
  return new Readable({
    read() {
      note('read() of a stream as body')
      this.push(left-- > 0 ? 'x'.repeat(40_000) : null)
    },
    destroy(error, done) {
      note('destroy() of a stream as body')
      done(error)
    },
  })
}

export class NotingHandler implements DispatchHandler {
  readonly #note: Note
  readonly done: Promise<void>
  #settle!: () => void

  constructor(note: Note) {
    this.#note = note
    this.done = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  onRequestQueued(): void {
    this.#note('onRequestQueued')
  }
  onRequestStart(): void {
    this.#note('onRequestStart')
  }
  onBodySent(): void {
    this.#note('onBodySent')
  }
  onRequestSent(): void {
    this.#note('onRequestSent')
  }
  onResponseStarted(): void {
    this.#note('onResponseStarted')
  }
  onResponseStart(controller: DispatchController): void {
    this.#note('onResponseStart')
    controller.pause()
    setImmediate(() => controller.resume())
  }
  onResponseData(): void {
    this.#note('onResponseData')
  }
  onResponseEnd(): void {
    this.#note('onResponseEnd')
    this.#settle()
  }
  onResponseError(): void {
    this.#note('onResponseError')
    this.#settle()
  }
}

/** Listens in no context: which one a listener was added in must not matter. */
export function listen(emitter: NodeJS.EventEmitter, names: readonly string[], note: Note): Promise<unknown> {
  for (const name of names) emitter.on(name, () => note(`'${name}' of a body`))
  return new Promise((resolve) => emitter.once('close', resolve))
}

/** The kinds of callbacks that have been checked in this file, by protocol. */
const checked = { h1: new Set<string>(), h2: new Set<string>() }

/** States which kinds of callbacks the tests before it have checked, over both protocols and over one of them only. */
export function testKinds(kinds: Partial<Record<'both' | keyof typeof checked, readonly string[]>>): void {
  for (const protocol of ['h1', 'h2'] as const) {
    test(`the kinds of callbacks that were checked over ${protocol}`, () => {
      const expected = [...(kinds.both ?? []), ...(kinds[protocol] ?? [])]
      assert.deepEqual([...checked[protocol]].sort(), expected.sort())
    })
  }
}

/** Runs a call several times at once on one connection, each in a context of its own, and one in none. */
export async function check(stage: Stage, call: Call): Promise<void> {
  const seen = new Map<string, Set<string>>()
  const runs = ['first', 'second', undefined, 'third'].map((own) => {
    const note: Note = (kind) => {
      const now = storage.getStore()
      const wrong = seen.get(kind) ?? new Set()
      if (now !== own) wrong.add(`${now} instead of ${own}`)
      seen.set(kind, wrong)
    }
    return own === undefined
      ? storage.exit(() => call(stage, note))
      : storage.run(own, () => call(stage, note))
  })
  await Promise.all(runs)
  assert.ok(seen.size > 0)
  for (const kind of seen.keys()) checked[stage.wire.multiplexes ? 'h2' : 'h1'].add(kind)
  const wrong = [...seen].filter(([, contexts]) => contexts.size > 0)
  assert.deepEqual(
    wrong.map(([kind, contexts]) => `${kind}: ${[...contexts].join(', ')}`),
    [],
  )
}

export async function openStage(t: TestContext, wire: Wire): Promise<Stage> {
  const origin = await startOrigin(t, wire, (request, response) => void answer(request, response))
  const client = origin.client({ pipelining: 1 })
  // The connection is made in the context of somebody else.
  await storage.run('the one who connects', async () => {
    const { body } = await client.request(GET)
    await body.dump()
  })
  return { client, url: origin.url, wire }
}
