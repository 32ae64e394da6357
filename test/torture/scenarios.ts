/** The scenarios: each way to send a request, over each protocol that supports it. */
import { type Duplex, Readable, Writable } from 'node:stream'
import { type Response, WebSocket } from '../../src/index.ts'
import { fetch } from '../support/any-fetch.ts'
import { PromiseCall } from './call.ts'
import type { Scenario, Stage } from './stage.ts'
import { SINGLES, STREAMED_PIECES } from './torture-origin.ts'

const BOTH = ['h1', 'h2'] as const

const STREAMED = STREAMED_PIECES.join('')

/** Larger than a connection accepts before it makes the source wait. */
const PARTS: readonly string[] = ['x'.repeat(6_000), 'y'.repeat(5_000), 'z']

const TRAILERS: Record<string, string> = { 'x-digest': 'of it all', 'x-count': '3' }

/** A source that delivers each part in a separate turn. */
function slowSource(parts: readonly string[] = PARTS): Readable {
  const left = [...parts]
  return new Readable({
    read() {
      setImmediate(() => {
        if (!this.destroyed) this.push(left.shift() ?? null)
      })
    },
  }).on('error', () => {})
}

async function* slowIterator(): AsyncGenerator<string> {
  for (const part of PARTS) {
    await new Promise((resolve) => setImmediate(resolve))
    yield part
  }
}

/** A body in memory that can be transferred, before and after its turn has come. */
function postMemory(stage: Stage, size: number): void {
  const body = new Uint8Array(size).fill(0x62)
  stage.memories.add(body.buffer)
  stage.dispatch({ path: '/get' }, { body: '/get' })
  stage.dispatch({ path: '/echo', method: 'POST', body }, { body: 'b'.repeat(size) })
}

/** `request()`, its body read to the end. */
function request(
  stage: Stage,
  path: string,
  body: Readable | null,
  expected: string,
  expectContinue = false,
): PromiseCall {
  const call = stage.add(new PromiseCall(`request ${path}`, expected))
  if (body !== null) {
    stage.sources.add(body)
    call.streams.push({
      name: 'the request body',
      get destroyed() {
        return body.destroyed
      },
    })
  }
  const method = body === null ? 'GET' : 'POST'
  stage.entry.request({ path, method, body, expectContinue, signal: call.signal }).then(
    ({ body: response }) => {
      call.given = response
      response.on('error', (error) => {
        call.error ??= error
      })
      response.on('data', (chunk: Buffer) => {
        call.body += chunk.toString('latin1')
        stage.mark('listener', `${call.name} data`)
      })
      response.on('close', () => {
        call.settle()
        stage.mark('listener', `${call.name} closed`)
      })
      stage.mark('listener', `${call.name} resolved`)
    },
    (error: unknown) => {
      call.settle(error)
      stage.mark('listener', `${call.name} rejected`)
    },
  )
  return call
}

/** `request()`, its body left unread until nothing else happens any more. A late reader then gets its outcome. */
function leaveUnread(stage: Stage, path = '/streamed', expected = STREAMED): void {
  const call = stage.add(new PromiseCall('request, unread', expected))
  stage.entry.request({ path, method: 'GET', signal: call.signal }).then(
    ({ body }) => {
      const read = async (): Promise<void> => {
        try {
          call.body = await body.text()
          call.settle()
        } catch (error) {
          call.settle(error)
        }
      }
      call.given = { destroy: () => void read() }
      stage.mark('listener', `${call.name} resolved`)
    },
    (error: unknown) => call.settle(error),
  )
}

/** `stream()` into a writable that takes its time. */
function streamInto(stage: Stage, path = '/streamed', expected = STREAMED): void {
  const call = stage.add(new PromiseCall('stream', expected))
  const target = new Writable({
    highWaterMark: 1_000,
    write(chunk: Buffer, _encoding, done) {
      call.body += chunk.toString('latin1')
      // A turn for each byte: without a timer nothing else says that the call goes on.
      stage.activity++
      setImmediate(done)
    },
  })
  target.on('error', () => {})
  stage.entry
    .stream({ path, method: 'GET', signal: call.signal }, () => {
      stage.mark('callback', 'stream factory')
      call.streams.push({
        name: 'the target',
        get destroyed() {
          return target.destroyed
        },
      })
      return target
    })
    .then(
      () => call.settle(),
      (error: unknown) => call.settle(error),
    )
}

function pipelineThrough(stage: Stage): void {
  const call = stage.add(new PromiseCall('pipeline', PARTS.join('')))
  const duplex = stage.entry.pipeline({ path: '/echo', method: 'POST', signal: call.signal }, ({ body }) => {
    stage.mark('callback', 'pipeline handler')
    return body
  })
  call.given = duplex
  duplex.on('error', (error) => {
    call.error ??= error
  })
  duplex.on('data', (chunk: Buffer) => {
    call.body += chunk.toString('latin1')
    stage.mark('listener', 'pipeline data')
  })
  duplex.on('close', () => call.settle())
  for (const part of PARTS) duplex.write(part)
  duplex.end()
}

/** Uses a socket that was handed over: sends something, waits for its echo, and closes it. */
function use(stage: Stage, call: PromiseCall, socket: Duplex): void {
  call.given = socket
  socket.on('error', (error) => {
    call.error ??= error
  })
  socket.on('close', () => call.settle())
  socket.on('end', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    call.body += chunk.toString('latin1')
    stage.mark('listener', `${call.name} data`)
    if (call.body === 'ping') socket.end()
  })
  stage.mark('listener', `${call.name} resolved`)
  socket.write('ping')
}

function tunnel(stage: Stage, kind: 'connect' | 'upgrade'): void {
  const call = stage.add(new PromiseCall(kind))
  const { signal } = call
  const given =
    kind === 'connect'
      ? stage.entry.connect({ path: 'target.test:80', signal })
      : stage.entry.upgrade({
          path: '/tunnel',
          protocol: stage.protocol === 'h1' ? 'custom' : 'websocket',
          signal,
        })
  given.then(
    ({ socket }) => use(stage, call, socket),
    (error: unknown) => call.settle(error),
  )
}

function webSocket(stage: Stage): void {
  const call = stage.add(new PromiseCall('WebSocket', 'hello'))
  const socket = new WebSocket(`${stage.url.replace('http', 'ws')}/websocket`, {
    dispatcher: stage.entry,
  })
  call.given = { destroy: () => socket.close() }
  let errors = 0
  socket.addEventListener('open', () => {
    stage.mark('listener', 'WebSocket open')
    if (socket.readyState === WebSocket.OPEN) socket.send('hello')
  })
  socket.addEventListener('message', ({ data }) => {
    call.body += data
    stage.mark('listener', 'WebSocket message')
    socket.close(1000, 'bye')
  })
  socket.addEventListener('error', ({ error }) => {
    if (errors++ > 0) call.settlements++
    call.error = (error as Error).cause ?? call.error
    stage.mark('listener', 'WebSocket error')
  })
  socket.addEventListener('close', ({ wasClean, code }) => {
    if (!wasClean) call.error ??= Object.assign(new Error('unclean'), { code: 'UND_ERR_UNCLEAN' })
    else if (code !== 1000) call.error ??= Object.assign(new Error(`code ${code}`), { code: 'UND_ERR_CODE' })
    call.settle()
  })
}

const textOf = (response: Response): Promise<string> => response.text()

function fetchIt(stage: Stage): void {
  fetchInto(stage, 'fetch', '/streamed', {}, STREAMED, textOf)
}

/** `/moved` redirects with 307: the body is sent to both. */
function fetchPosting(stage: Stage, path: string, body: string | AsyncIterable<string>): void {
  const expected = typeof body === 'string' ? body : PARTS.join('')
  fetchInto(stage, 'posting fetch', path, { method: 'POST', body, duplex: 'half' }, expected, textOf)
}

/** Its body is left unread until nothing else happens any more. A late reader then gets its outcome. */
function leaveFetchUnread(stage: Stage): void {
  fetchInto(stage, 'unread fetch', '/streamed', {}, STREAMED, (response, call) => {
    return new Promise((resolve) => {
      call.given = { destroy: () => resolve(response.text()) }
    })
  })
}

/** Two readers of one response, one of them through a stream. */
function fetchAndClone(stage: Stage): void {
  fetchInto(stage, 'cloned fetch', '/streamed', {}, STREAMED, async (response) => {
    const clone = response.clone()
    const [text, chunks] = await Promise.allSettled([clone.text(), readStream(response.body!)])
    if (text.status === 'rejected') throw text.reason
    if (chunks.status === 'rejected') throw chunks.reason
    return chunks.value === text.value ? text.value : `${text.value} and ${chunks.value}`
  })
}

async function readStream(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += Buffer.from(chunk).toString('latin1')
  return text
}

function fetchInto(
  stage: Stage,
  name: string,
  path: string,
  init: Parameters<typeof fetch>[1],
  expected: string,
  read: (response: Response, call: PromiseCall) => Promise<string>,
): void {
  const call = stage.add(new PromiseCall(name, expected))
  fetch(stage.url + path, { ...init, dispatcher: stage.entry, signal: call.signal })
    .then((response) => {
      stage.mark('listener', `${name} resolved`)
      return read(response, call)
    })
    .then(
      (text) => {
        call.body = text
        call.settle()
      },
      (error: unknown) => call.settle(error),
    )
}

/** The library reads a body away that trickles without an end. Settles when the origin has noticed that it was given up. */
function passTrickle(
  stage: Stage,
  name: string,
  expected: string,
  act: (call: PromiseCall) => Promise<string>,
): void {
  const call = stage.add(new PromiseCall(name, expected))
  const settle = async (error?: unknown): Promise<void> => {
    await stage.origin.quiet()
    call.settle(error)
  }
  act(call).then((text) => {
    call.body = text
    return settle()
  }, settle)
}

function requestText(stage: Stage, path: string, expected: string): void {
  passTrickle(stage, `request ${path}`, expected, async ({ signal }) => {
    const { body } = await stage.entry.request({ path, method: 'GET', signal })
    return body.text()
  })
}

const PLAIN: readonly Scenario[] = [
  {
    name: 'GET',
    protocols: BOTH,
    act: (stage) => void stage.dispatch({ path: '/get' }, { body: '/get' }),
  },
  {
    name: 'HEAD',
    protocols: BOTH,
    act: (stage) => void stage.dispatch({ path: '/head', method: 'HEAD' }, { body: '' }),
  },
  {
    name: 'response until the connection closes',
    protocols: BOTH,
    act: (stage) => void stage.dispatch({ path: '/until-close' }),
  },
  {
    name: 'one after the other on a connection',
    protocols: BOTH,
    act: (stage) => {
      for (const path of ['/1', '/2', '/3']) stage.dispatch({ path }, { body: path })
    },
  },
  {
    name: 'POST of bytes',
    protocols: BOTH,
    act: (stage) => {
      const body = 'bytes'.repeat(2_000)
      stage.dispatch({ path: '/echo', method: 'POST', body }, { body })
    },
  },
  { name: 'POST of little memory, behind a GET', protocols: BOTH, act: (stage) => postMemory(stage, 500) },
  { name: 'POST of much memory, behind a GET', protocols: BOTH, act: (stage) => postMemory(stage, 20_000) },
  {
    name: 'POST of a stream',
    protocols: BOTH,
    act: (stage) => {
      stage.dispatch({ path: '/echo', method: 'POST', body: slowSource() }, { body: PARTS.join('') })
    },
  },
  {
    name: 'an empty stream with every method, one after the other',
    protocols: BOTH,
    act: (stage) => {
      for (const method of ['GET', 'DELETE', 'OPTIONS', 'PURGE', 'PATCH', 'HEAD']) {
        stage.dispatch({ path: '/echo', method, body: slowSource([]) }, { body: '' })
      }
    },
  },
  {
    name: 'POST of an iterator, behind a GET',
    protocols: BOTH,
    act: (stage) => {
      stage.dispatch({ path: '/get' }, { body: '/get' })
      stage.dispatch({ path: '/echo', method: 'POST', body: slowIterator() }, { body: PARTS.join('') })
    },
  },
  {
    name: 'POST of bytes with trailers, and one of trailers alone',
    protocols: BOTH,
    act: (stage) => {
      const expected = JSON.stringify(TRAILERS)
      const body = 'bytes'.repeat(2_000)
      const options = { path: '/trailers', method: 'POST', trailers: TRAILERS }
      stage.dispatch({ ...options, body }, { body: body + expected })
      stage.dispatch({ ...options, path: '/trailers?alone' }, { body: expected })
    },
  },
  {
    name: 'POST of a stream with trailers that come late',
    protocols: BOTH,
    act: (stage) => {
      const trailers = async (): Promise<Record<string, string>> => {
        stage.mark('callback', 'trailers')
        await new Promise((resolve) => setImmediate(resolve))
        stage.mark('callback', 'trailers, later')
        return TRAILERS
      }
      const expected = PARTS.join('') + JSON.stringify(TRAILERS)
      stage.dispatch({ path: '/trailers', method: 'POST', body: slowSource(), trailers }, { body: expected })
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'trailers after an answer',
    protocols: BOTH,
    act: (stage) => {
      const trailers = (): Record<string, string> => {
        stage.mark('callback', 'trailers')
        return TRAILERS
      }
      stage.dispatch({ path: '/early', method: 'POST', body: slowIterator(), trailers }, { body: '/early' })
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'answer before the body has come',
    protocols: BOTH,
    act: (stage) => {
      stage.dispatch({ path: '/early', method: 'POST', body: slowSource() }, { body: '/early' })
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'pipelined',
    protocols: BOTH,
    options: { pipelining: 4 },
    act: (stage) => {
      for (const path of ['/streamed', '/1', '/2']) {
        stage.dispatch({ path, blocking: false }, { body: path === '/streamed' ? STREAMED : path })
      }
      stage.dispatch({ path: '/echo', method: 'POST', body: 'posted' }, { body: 'posted' })
    },
  },
  {
    name: 'pipelined behind a POST',
    protocols: BOTH,
    options: { pipelining: 4 },
    act: (stage) => {
      stage.dispatch({ path: '/echo', method: 'POST', body: 'posted', blocking: false }, { body: 'posted' })
      for (const path of ['/1', '/2']) stage.dispatch({ path, blocking: false }, { body: path })
    },
  },
  {
    name: 'streamed response with trailers',
    protocols: BOTH,
    act: (stage) => void stage.dispatch({ path: '/streamed' }, { body: STREAMED }),
  },
  {
    name: 'streamed response that is paused at each piece',
    protocols: BOTH,
    act: (stage) => void stage.dispatch({ path: '/streamed' }, { body: STREAMED, pauses: true }),
  },
  // The states of a held body, and where each is met by every fault, over both protocols:
  // - it waits for the 100: all of these; for its time to be over: 'and silence'
  // - the 100 has come, or several have, and the body leaves as bytes or as a stream: the first two, 'request()'
  // - it leaves because its time is over: 'and silence'
  // - a final answer has come instead, which refuses it, or wants it: 'refused', 'a 2xx without a 100'
  {
    name: 'expect-continue',
    protocols: BOTH,
    act: (stage) => {
      const body = 'b'.repeat(3_000)
      stage.dispatch({ path: '/echo', method: 'POST', body, expectContinue: true }, { body })
    },
  },
  {
    name: 'expect-continue, a stream behind a GET, and one behind it',
    protocols: BOTH,
    act: (stage) => {
      stage.dispatch({ path: '/get' }, { body: '/get' })
      const options = { path: '/echo', method: 'POST', expectContinue: true }
      stage.dispatch({ ...options, body: slowSource() }, { body: PARTS.join('') })
      stage.dispatch(
        { ...options, path: '/echo?2', body: slowIterator(), trailers: TRAILERS },
        { body: PARTS.join('') },
      )
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'expect-continue, pipelined',
    protocols: BOTH,
    options: { pipelining: 4 },
    act: (stage) => {
      stage.dispatch({ path: '/streamed', blocking: false }, { body: STREAMED })
      const options = { path: '/echo', method: 'GET', reset: false, blocking: false }
      stage.dispatch({ ...options, body: 'held', expectContinue: true }, { body: 'held' })
      stage.dispatch({ path: '/next', blocking: false }, { body: '/next' })
    },
  },
  {
    name: 'expect-continue, refused',
    protocols: BOTH,
    act: (stage) => {
      const options = { path: '/refuse', method: 'POST', expectContinue: true }
      stage.dispatch({ ...options, body: slowSource() }, { body: '/refuse' })
      stage.dispatch({ ...options, path: '/refuse?2', body: 'b'.repeat(3_000) }, { body: '/refuse?2' })
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'expect-continue, with several 100s',
    protocols: BOTH,
    act: (stage) => {
      const options = { path: '/echo-asked-twice', method: 'POST', expectContinue: true }
      stage.dispatch({ ...options, body: slowSource() }, { body: PARTS.join('') })
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'expect-continue, in a pool',
    protocols: BOTH,
    pool: 2,
    act: (stage) => {
      const options = { method: 'POST', expectContinue: true }
      stage.dispatch({ ...options, path: '/echo?1', body: slowSource() }, { body: PARTS.join('') })
      stage.dispatch({ ...options, path: '/echo?2', body: 'held' }, { body: 'held' })
      stage.dispatch({ ...options, path: '/refuse', body: 'held' }, { body: '/refuse' })
    },
  },
  {
    name: 'expect-continue, request() with a stream',
    protocols: BOTH,
    act: (stage) => void request(stage, '/echo', slowSource(), PARTS.join(''), true),
  },
  {
    name: 'expect-continue, a 2xx without a 100',
    protocols: BOTH,
    act: (stage) => {
      const options = { method: 'POST', expectContinue: true }
      stage.dispatch({ ...options, path: '/early', body: slowSource() }, { body: '/early' })
      stage.dispatch({ ...options, path: '/early?2', body: 'bytes' }, { body: '/early?2' })
      stage.dispatch({ ...options, path: '/echo-at-once', body: slowSource() }, { body: PARTS.join('') })
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'expect-continue, and silence',
    protocols: BOTH,
    waits: true,
    act: (stage) => {
      const options = { path: '/echo-unasked', method: 'POST', expectContinue: true }
      stage.dispatch({ ...options, body: slowSource() }, { body: PARTS.join('') })
      stage.dispatch(
        { ...options, path: '/echo-unasked?2', body: 'b'.repeat(3_000) },
        { body: 'b'.repeat(3_000) },
      )
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'expect-continue, and the memory is taken',
    protocols: BOTH,
    act: (stage) => {
      const body = new Uint8Array(3_000).fill(0x62)
      stage.memories.add(body.buffer)
      const options = { path: '/echo', method: 'POST', expectContinue: true }
      stage.dispatch({ ...options, body }, { body: 'b'.repeat(3_000) })
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'expect-continue, and GOAWAY or REFUSED_STREAM while it is held',
    protocols: ['h2'],
    act: (stage) => {
      const options = { method: 'GET', expectContinue: true }
      stage.dispatch({ ...options, path: '/goaway', body: 'held' }, { body: '/goaway' })
      stage.dispatch({ ...options, path: '/goaway-error', body: slowSource() })
      stage.dispatch({ ...options, path: '/refuse-once', body: slowSource() }, { body: '/refuse-once' })
    },
  },
  {
    name: 'no answer',
    protocols: BOTH,
    expires: true,
    act: (stage) => {
      stage.dispatch({ path: '/silent' })
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'half an answer',
    protocols: BOTH,
    expires: true,
    act: (stage) => {
      stage.dispatch({ path: '/half' })
      stage.dispatch({ path: '/next' }, { body: '/next' })
    },
  },
  {
    name: 'refused once',
    protocols: ['h2'],
    act: (stage) => {
      stage.dispatch({ path: '/refuse-once', method: 'POST', body: 'again' }, { body: '/refuse-once' })
    },
  },
  {
    name: 'GOAWAY with an error',
    protocols: ['h2'],
    act: (stage) => {
      for (const path of ['/goaway-error', '/1', '/2']) stage.dispatch({ path }, { body: path })
    },
  },
  {
    name: 'GOAWAY',
    protocols: ['h2'],
    act: (stage) => {
      for (const path of ['/goaway', '/1', '/2']) stage.dispatch({ path }, { body: path })
      stage.dispatch({ path: '/echo', method: 'POST', body: 'posted' }, { body: 'posted' })
    },
  },
  {
    name: 'pool',
    protocols: BOTH,
    pool: 2,
    act: (stage) => {
      for (const path of ['/1', '/2', '/3']) stage.dispatch({ path }, { body: path })
      stage.dispatch({ path: '/echo', method: 'POST', body: 'posted' }, { body: 'posted' })
    },
  },
  {
    name: 'request()',
    protocols: BOTH,
    act: (stage) => void request(stage, '/streamed', null, STREAMED),
  },
  {
    name: 'request() with a stream',
    protocols: BOTH,
    act: (stage) => void request(stage, '/echo', slowSource(), PARTS.join('')),
  },
  { name: 'request() left unread', protocols: BOTH, act: (stage) => leaveUnread(stage) },
  { name: 'stream()', protocols: BOTH, act: (stage) => streamInto(stage) },
  { name: 'pipeline()', protocols: BOTH, act: pipelineThrough },
  { name: 'fetch()', protocols: BOTH, act: fetchIt },
  { name: 'fetch() and clone()', protocols: BOTH, act: fetchAndClone },
  { name: 'fetch() left unread', protocols: BOTH, act: leaveFetchUnread },
  {
    name: 'fetch() with a stream',
    protocols: BOTH,
    act: (stage) => fetchPosting(stage, '/echo', slowIterator()),
  },
  {
    name: 'fetch() over a redirect',
    protocols: BOTH,
    act: (stage) => fetchPosting(stage, '/moved', 'bytes'.repeat(2_000)),
  },
  {
    name: 'fetch() over a redirect that trickles',
    protocols: BOTH,
    waits: true,
    act: (stage) => {
      passTrickle(stage, 'fetch', '/there', async ({ signal }) => {
        const response = await fetch(`${stage.url}/trickle-moved`, { dispatcher: stage.entry, signal })
        return response.text()
      })
    },
  },
  {
    name: 'request() over a redirect that trickles',
    protocols: BOTH,
    waits: true,
    stack: true,
    act: (stage) => requestText(stage, '/trickle-moved', '/there'),
  },
  {
    name: 'request() after an error that trickles',
    protocols: BOTH,
    waits: true,
    stack: true,
    act: (stage) => requestText(stage, '/trickle-unavailable', '/trickle-unavailable'),
  },
  {
    name: 'dump() of a body that trickles',
    protocols: BOTH,
    waits: true,
    act: (stage) => {
      passTrickle(stage, 'dump', '', async ({ signal }) => {
        const { body } = await stage.entry.request({ path: '/trickle', method: 'GET', signal })
        await body.dump()
        return ''
      })
    },
  },
  {
    name: 'single bytes, paused at each',
    protocols: BOTH,
    act: (stage) => void stage.dispatch({ path: '/singles' }, { body: SINGLES, pauses: true }),
  },
  {
    name: 'single bytes, request()',
    protocols: BOTH,
    act: (stage) => void request(stage, '/singles', null, SINGLES),
  },
  {
    name: 'single bytes left unread',
    protocols: BOTH,
    act: (stage) => leaveUnread(stage, '/singles', SINGLES),
  },
  {
    name: 'single bytes, stream()',
    protocols: BOTH,
    act: (stage) => streamInto(stage, '/singles', SINGLES),
  },
  {
    name: 'single bytes, fetch()',
    protocols: BOTH,
    act: (stage) => fetchInto(stage, 'fetch', '/singles', {}, SINGLES, textOf),
  },
  {
    name: 'upgrade by handler',
    protocols: BOTH,
    takesOver: true,
    act: (stage) => {
      stage.dispatch({ path: '/tunnel', upgrade: stage.protocol === 'h1' ? 'custom' : 'websocket' })
    },
  },
  { name: 'upgrade()', protocols: BOTH, takesOver: true, act: (stage) => tunnel(stage, 'upgrade') },
  { name: 'connect()', protocols: BOTH, takesOver: true, act: (stage) => tunnel(stage, 'connect') },
  { name: 'WebSocket', protocols: BOTH, takesOver: true, act: webSocket },
]

/** Those that no interceptor is in the way of: they hand no socket over, and wait for no time limit. */
const STACKED = [
  'GET',
  'one after the other on a connection',
  'POST of bytes',
  'POST of a stream',
  'answer before the body has come',
  'streamed response with trailers',
  'streamed response that is paused at each piece',
  'refused once',
  'GOAWAY',
  'pool',
  'request()',
  'expect-continue',
  'expect-continue, refused',
  'request() with a stream',
  'request() left unread',
  'stream()',
  'fetch()',
  'fetch() with a stream',
  'single bytes, request()',
]

function throughInterceptors(scenario: Scenario): Scenario {
  return { ...scenario, name: `${scenario.name}, through interceptors`, stack: true }
}

/** Scenarios that are also run with a guard. */
const GUARDED: readonly string[] = ['GET', 'POST of a stream', 'pipelined', 'WebSocket']

function guarded(scenario: Scenario): Scenario {
  return { ...scenario, name: `${scenario.name}, guarded`, guard: true }
}

export const SCENARIOS: readonly Scenario[] = [
  ...PLAIN,
  ...PLAIN.filter(({ name }) => STACKED.includes(name)).map(throughInterceptors),
  ...PLAIN.filter(({ name }) => GUARDED.includes(name)).map(guarded),
]
