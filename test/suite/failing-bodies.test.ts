/**
 * Method × kind of failure × observer, over each wire: every reader and listener, even a later one, gets the error, and
 * the process survives without any. The table is in docs/reliability.md.
 */
import assert from 'node:assert/strict'
import { type Duplex, PassThrough, type Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { type Client, fetch, WebSocket } from '../../src/index.ts'
import { loadOf, type TestOrigin, WIRES, type Wire } from '../support/wire.ts'
import { Uncaught } from '../torture/uncaught.ts'
import { type Failure, failuresOver, outcome, type Report, WATCHERS, type Watcher } from './failing-bodies.ts'
import { CELL_HEADER, FailingStage } from './failing-stage.ts'

/** The number in docs/reliability.md. */
const CELLS = 3592

/** Long enough for every response of a test to start. */
const BODY_TIMEOUT = 300

/** The context in which a holder requests a response. */
interface Asking {
  readonly client: Client
  readonly origin: TestOrigin
  readonly wire: Wire
  readonly path: string
  readonly cell: string
  readonly signal: AbortSignal
  /** Call it with the caller's result, as soon as there is one. */
  readonly attach: (stream: Readable) => void
}

interface Held {
  readonly stream: Readable | Duplex
  /** The result of the call itself, if it settles with the end of the response. */
  readonly answer?: Report
}

interface Holder {
  readonly name: string
  readonly hold: (asking: Asking) => Promise<Held>
  readonly watches: (watcher: Watcher) => boolean
  readonly fails: (failure: Failure, wire: Wire) => boolean
  /** A socket belongs to the caller: it reports its failure itself, and observers get the same error. */
  readonly isSocket?: boolean
}

function optionsOf({ path, cell, signal }: Asking) {
  return { path, method: 'GET' as const, headers: { [CELL_HEADER]: cell }, signal }
}

const isOfStream = ({ needsBody }: Watcher): boolean => needsBody !== true
const always = (): boolean => true

/** Failures that end a tunnel; a tunnel over HTTP/1.1 no longer belongs to its client. */
function endsTunnel({ name }: Failure, wire: Wire): boolean {
  if (name.startsWith('client.')) return wire.multiplexes
  return /^(server|HTTP\/2|body\.destroy)/.test(name)
}

const HOLDERS: readonly Holder[] = [
  {
    name: 'request(), promise',
    watches: always,
    fails: always,
    async hold(asking) {
      const { body } = await asking.client.request(optionsOf(asking))
      asking.attach(body)
      return { stream: body }
    },
  },
  {
    name: 'request(), callback',
    watches: always,
    fails: always,
    hold: (asking) =>
      new Promise((resolve) => {
        asking.client.request(optionsOf(asking), (error, { body }) => {
          assert.ifError(error)
          asking.attach(body)
          resolve({ stream: body })
        })
      }),
  },
  {
    name: 'stream()',
    watches: isOfStream,
    fails: ({ whole, name }) => whole !== true && name !== 'body.destroy()',
    hold: (asking) =>
      new Promise((resolve) => {
        const target = new PassThrough()
        const answer = outcome(
          asking.client.stream(optionsOf(asking), () => {
            asking.attach(target)
            queueMicrotask(() => resolve({ stream: target, answer }))
            return target
          }),
        )
      }),
  },
  {
    name: 'pipeline(), its Duplex',
    watches: isOfStream,
    fails: ({ whole }) => whole !== true,
    hold: (asking) =>
      new Promise((resolve) => {
        const duplex = asking.client.pipeline(optionsOf(asking), ({ body }) => {
          resolve({ stream: duplex })
          return body
        })
        asking.attach(duplex)
        duplex.end()
      }),
  },
  {
    name: 'pipeline(), the body of its handler',
    watches: isOfStream,
    fails: ({ whole }) => whole !== true,
    hold: (asking) =>
      new Promise((resolve) => {
        const duplex = asking.client.pipeline(optionsOf(asking), ({ body }) => {
          asking.attach(body)
          resolve({ stream: body })
          return new PassThrough()
        })
        duplex.end()
      }),
  },
  {
    name: 'connect()',
    isSocket: true,
    watches: isOfStream,
    fails: endsTunnel,
    async hold(asking) {
      const { socket } = await asking.client.connect({ ...optionsOf(asking), path: 'other.test:1' })
      asking.attach(socket)
      return { stream: socket }
    },
  },
  {
    name: 'upgrade()',
    isSocket: true,
    watches: isOfStream,
    fails: endsTunnel,
    async hold(asking) {
      const { socket } = await asking.client.upgrade({ ...optionsOf(asking), protocol: 'websocket' })
      asking.attach(socket)
      return { stream: socket }
    },
  },
]

/** Holders that are not Node streams and have their own observers. */
interface WebHolder {
  readonly name: string
  readonly fails: Holder['fails']
  readonly watchers: Readonly<Record<string, (asking: Asking) => Promise<WebHeld>>>
}

interface WebHeld {
  /** The report of an observer that was attached before; undefined without one. */
  readonly heard?: Report
  /** Observes after the failure. */
  readonly ask?: () => Report
  readonly isOver?: () => boolean
}

async function drain(response: Response | Awaited<ReturnType<typeof fetch>>): Promise<void> {
  const reader = response.body!.getReader()
  while (!(await reader.read()).done) {
    // Only the end matters.
  }
}

async function fetchFor({ client, origin, path, cell, signal }: Asking) {
  return await fetch(`${origin.url}${path}`, { dispatcher: client, signal, headers: { [CELL_HEADER]: cell } })
}

function open({ client, origin, cell }: Asking): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${origin.url.replace('http', 'ws')}/${cell}`, { dispatcher: client })
    socket.addEventListener('open', () => resolve(socket), { once: true })
    socket.addEventListener('close', () => reject(new Error('the WebSocket did not open')), { once: true })
  })
}

const WEB_HOLDERS: readonly WebHolder[] = [
  {
    name: 'fetch()',
    fails: ({ name }) => !name.startsWith('body.destroy'),
    watchers: {
      nobody: async (asking) => {
        await fetchFor(asking)
        return {}
      },
      'text()': async (asking) => ({ heard: outcome((await fetchFor(asking)).text()) }),
      'text(), later': async (asking) => {
        const response = await fetchFor(asking)
        return { ask: () => outcome(response.text()) }
      },
      'web stream': async (asking) => ({ heard: outcome(drain(await fetchFor(asking))) }),
      'web stream, later': async (asking) => {
        const response = await fetchFor(asking)
        return { ask: () => outcome(drain(response)) }
      },
      clone: async (asking) => {
        const response = await fetchFor(asking)
        const copy = response.clone()
        return { heard: outcome(copy.text()), ask: () => outcome(response.text()) }
      },
    },
  },
  {
    name: 'WebSocket',
    fails: (failure, wire) => endsTunnel(failure, wire) && !failure.name.startsWith('body.'),
    watchers: {
      nobody: async (asking) => {
        const socket = await open(asking)
        return { isOver: () => socket.readyState === WebSocket.CLOSED }
      },
      error: async (asking) => {
        const socket = await open(asking)
        return { heard: new Promise((resolve) => socket.addEventListener('error', resolve)) }
      },
      close: async (asking) => {
        const socket = await open(asking)
        return { heard: new Promise((resolve) => socket.addEventListener('close', resolve)) }
      },
    },
  },
]

/** Turns of the event loop until a condition holds that only a listener could report. */
async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!holds()) {
    assert.ok(performance.now() < deadline, `${what}: still not so after ten seconds`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function turns(): Promise<void> {
  for (let i = 0; i < 6; i++) await new Promise((resolve) => setImmediate(resolve))
}

let cells = 0

/** One client for all cells of a failure if exchanges share a connection, otherwise one for each. */
function clientsOf({ origin }: FailingStage, wire: Wire, failure: Failure): () => Client {
  const make = (): Client =>
    origin.client(failure.name === 'bodyTimeout' ? { bodyTimeout: BODY_TIMEOUT } : {})
  if (!wire.multiplexes) return make
  const shared = make()
  return () => shared
}

async function runCell(
  stage: FailingStage,
  wire: Wire,
  client: Client,
  failure: Failure,
  holder: Holder,
  watcher: Watcher,
): Promise<() => Promise<void>> {
  const cell = `${holder.name}, ${failure.name}, ${watcher.name}`.replaceAll(/[^\w]/g, '-')
  const abort = new AbortController()
  const arrival = stage.end(cell)
  let heard: Report | undefined
  const attach = (stream: Readable): void => {
    heard = watcher.before?.(stream) ?? undefined
  }
  const path = failure.whole ? '/whole' : '/half'
  const { stream, answer } = await holder.hold({
    client,
    origin: stage.origin,
    wire,
    path,
    cell,
    signal: abort.signal,
    attach,
  })
  const server = await arrival
  return async () => {
    if (failure.whole) await until(() => loadOf(client).running === 0, `${cell} complete`)
    // The first bytes of the body have arrived, or will arrive with the failure.
    await turns()
    failure.fail({ client, abort, server, stream })
    if (holder.isSocket) {
      await until(() => server.socket.destroyed || server.stream?.destroyed === true, cell)
      await turns()
      // A socket without a reader never ends.
      stream.resume()
    }
    await until(() => stream.destroyed, cell)
    await turns()
    const error = stream.errored as (Error & { code?: string }) | null
    // An orderly end is not a failure of a socket.
    if (!holder.isSocket) assert.match(String(error?.code), failure.code, `${cell}: ${error}`)
    if (error !== null) {
      if (heard) assert.equal(await heard, error, cell)
      if (watcher.after) assert.equal(await watcher.after(stream), error, cell)
      if (answer) assert.equal(await answer, error, cell)
    }
    cells++
  }
}

async function runWebCell(
  stage: FailingStage,
  wire: Wire,
  client: Client,
  failure: Failure,
  holder: WebHolder,
  name: string,
): Promise<() => Promise<void>> {
  const cell = `${holder.name}, ${failure.name}, ${name}`.replaceAll(/[^\w]/g, '-')
  const abort = new AbortController()
  const arrival = stage.end(cell)
  const path = failure.whole ? '/whole' : '/half'
  const { heard, ask, isOver } = await holder.watchers[name]!({
    client,
    origin: stage.origin,
    wire,
    path,
    cell,
    signal: abort.signal,
    attach() {},
  })
  const server = await arrival
  return async () => {
    if (failure.whole) await until(() => loadOf(client).running === 0, `${cell} complete`)
    await turns()
    failure.fail({ client, abort, server, stream: null })
    if (isOver) await until(isOver, cell)
    else if (!failure.whole) await until(() => loadOf(client).running === 0, cell)
    await turns()
    if (heard) assert.ok((await heard) instanceof Object || failure.whole, cell)
    // Whether an abort still discards data that has arrived is up to the runtime.
    if (ask) assert.ok((await ask()) instanceof Object || failure.whole, cell)
    cells++
  }
}

for (const wire of WIRES) {
  describe(`failures nobody has to hear, over ${wire.name}`, () => {
    for (const holder of HOLDERS) {
      test(holder.name, async (t) => {
        await withoutUncaught(t, wire, async (stage) => {
          await Promise.all(
            failuresOver(wire)
              .filter((failure) => holder.fails(failure, wire))
              .map(async (failure) => {
                const clientFor = clientsOf(stage, wire, failure)
                const watchers = WATCHERS.filter(
                  (watcher) => holder.watches(watcher) && !(failure.whole && watcher.reads),
                )
                const begun = await Promise.all(
                  watchers.map((watcher) => runCell(stage, wire, clientFor(), failure, holder, watcher)),
                )
                await Promise.all(begun.map((finish) => finish()))
              }),
          )
        })
      })
    }
    for (const holder of WEB_HOLDERS) {
      test(holder.name, async (t) => {
        await withoutUncaught(t, wire, async (stage) => {
          await Promise.all(
            failuresOver(wire)
              .filter((failure) => holder.fails(failure, wire))
              .map(async (failure) => {
                const clientFor = clientsOf(stage, wire, failure)
                const begun = await Promise.all(
                  Object.keys(holder.watchers).map((name) =>
                    runWebCell(stage, wire, clientFor(), failure, holder, name),
                  ),
                )
                await Promise.all(begun.map((finish) => finish()))
              }),
          )
        })
      })
    }
  })
}

async function withoutUncaught(
  t: TestContext,
  wire: Wire,
  run: (stage: FailingStage) => Promise<void>,
): Promise<void> {
  const stage = await FailingStage.start(t, wire)
  const uncaught = new Uncaught()
  let errors: readonly unknown[] = []
  try {
    await run(stage)
    await turns()
  } finally {
    errors = uncaught.stop()
  }
  assert.deepEqual(errors, [])
}

test('the table has as many cells as its documentation says', () => {
  assert.equal(cells, CELLS)
})
