/**
 * A response body is a Readable: every operation has the same visible result as on a Readable of the runtime to which
 * the same chunks were pushed as they arrived. fast-check prints seed and path of a failing run.
 */
import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { BodySource } from '../../src/body/incoming.ts'
import { BodyReadable } from '../../src/body/readable.ts'

const RUNS = 400

const SOURCE: BodySource = { pause() {}, resume() {}, cancel() {}, spent() {} }

/** A body, or the stream it is compared with. */
interface Subject {
  readonly stream: Readable
  arrive(chunk: Buffer): void
  complete(): void
}

function bodySubject(highWaterMark: number): Subject {
  const stream = new BodyReadable(SOURCE, {}, highWaterMark, false)
  return { stream, arrive: (chunk) => stream.receive(chunk), complete: () => stream.complete() }
}

function plainSubject(highWaterMark: number): Subject {
  const stream = new Readable({ highWaterMark, read() {} })
  let isOver = false
  return {
    stream,
    arrive: (chunk) => {
      if (!isOver) stream.push(chunk)
    },
    complete: () => {
      if (!isOver) stream.push(null)
      isOver = true
    },
  }
}

type Op =
  | { readonly do: 'arrive'; readonly text: string }
  | { readonly do: 'read'; readonly size: number | undefined }
  | { readonly do: 'unshift'; readonly text: string; readonly asBytes: boolean }
  | { readonly do: 'encode'; readonly encoding: BufferEncoding }
  | {
      readonly do:
        | 'complete'
        | 'turn'
        | 'pause'
        | 'resume'
        | 'data'
        | 'no data'
        | 'readable'
        | 'no readable'
        | 'pipe'
        | 'unpipe'
        | 'next'
        | 'fail'
    }

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'ü', '€'), minLength: 1, maxLength: 5 })
const arrive = word.map((text): Op => ({ do: 'arrive', text }))
const turn: Op = { do: 'turn' }
const read = fc.constantFrom(undefined, 0, 1, 2, 7).map((size): Op => ({ do: 'read', size }))
const unshift = fc.tuple(word, fc.boolean()).map(([text, asBytes]): Op => ({ do: 'unshift', text, asBytes }))
const encode = fc.constantFrom('utf8', 'hex').map(
  (encoding): Op => ({
    do: 'encode',
    encoding: encoding as BufferEncoding,
  }),
)
const plainly = (
  ...names: Exclude<Op, { text: string } | { size: unknown } | { encoding: string }>['do'][]
) => fc.constantFrom(...names.map((name): Op => ({ do: name })))

/** Until everything is reported: an unread body reports its failure a turn of the event loop later. */
async function turns(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}

class Run {
  readonly subject: Subject
  readonly seen: string[] = []
  readonly #onData = (chunk: Buffer | string): void => void this.#note(chunk)
  readonly #onReadable = (): void => {
    for (let chunk = this.stream.read(); chunk !== null; chunk = this.stream.read()) this.#note(chunk)
  }
  readonly #target = new PassThrough({ highWaterMark: 1 << 20 })
  #iterator: AsyncIterator<Buffer> | null = null
  /** The data of all consumers together, in order. */
  #text = ''

  constructor(subject: Subject) {
    this.subject = subject
    for (const event of ['end', 'close']) this.stream.on(event, () => this.seen.push(event))
    this.stream.on('error', (error) => this.seen.push(`error ${error.message}`))
    this.#target.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1')
    })
  }

  get stream(): Readable {
    return this.subject.stream
  }

  get text(): string {
    return this.#text
  }

  #note(chunk: Buffer | string | null): void {
    if (chunk !== null)
      this.#text +=
        typeof chunk === 'string' ? Buffer.from(chunk).toString('latin1') : chunk.toString('latin1')
  }

  async apply(op: Op): Promise<void> {
    const { stream } = this
    // A destroyed stream of the runtime still delivers its buffered data; a body drops it.
    if (stream.destroyed && op.do !== 'turn') return
    switch (op.do) {
      case 'arrive':
        this.subject.arrive(Buffer.from(op.text))
        break
      case 'complete':
        this.subject.complete()
        break
      case 'turn':
        await turns()
        break
      case 'read':
        {
          const chunk = stream.read(op.size) as Buffer | string | null
          // The `data` listeners have recorded it.
          if (stream.listenerCount('data') === 0) this.#note(chunk)
        }
        break
      case 'unshift':
        if (!stream.readableEnded) {
          stream.unshift(op.asBytes ? Buffer.from(op.text) : op.text)
        }
        break
      case 'encode':
        stream.setEncoding(op.encoding)
        break
      case 'pause':
        stream.pause()
        break
      case 'resume':
        stream.resume()
        break
      case 'data':
        if (!stream.listeners('data').includes(this.#onData)) stream.on('data', this.#onData)
        break
      case 'no data':
        stream.off('data', this.#onData)
        break
      case 'readable':
        if (stream.listenerCount('readable') === 0) stream.on('readable', this.#onReadable)
        break
      case 'no readable':
        stream.off('readable', this.#onReadable)
        break
      case 'pipe':
        stream.unpipe(this.#target)
        stream.pipe(this.#target, { end: false })
        break
      case 'unpipe':
        stream.unpipe(this.#target)
        break
      case 'next':
        await this.#next()
        break
      case 'fail':
        stream.destroy(new Error('failed'))
        break
    }
  }

  /** One step of an iterator, unless it would never settle. */
  async #next(): Promise<void> {
    const { stream } = this
    if (stream.readableLength === 0 && !stream.readableEnded) return
    this.#iterator ??= stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    const step = await this.#iterator.next()
    if (!step.done) this.#note(step.value)
  }

  state(): unknown {
    const { stream } = this
    return {
      text: this.#text,
      seen: [...this.seen],
      destroyed: stream.destroyed,
      ended: stream.readableEnded,
      didRead: stream.readableDidRead,
      disturbed: Readable.isDisturbed(stream),
      length: stream.destroyed ? 0 : stream.readableLength,
      flowing: stream.readableFlowing,
      paused: stream.isPaused(),
      encoding: stream.readableEncoding,
      errored: stream.errored?.message,
    }
  }
}

function isPartial(op: Op): boolean {
  return op.do === 'unshift' || (op.do === 'read' && op.size !== undefined && op.size > 0)
}

const STARTS: ReadonlySet<Op['do']> = new Set(['resume', 'data', 'no data', 'no readable', 'pipe', 'unpipe'])

async function compare(highWaterMark: number, ops: readonly Op[]): Promise<void> {
  const body = new Run(bodySubject(highWaterMark))
  const plain = new Run(plainSubject(highWaterMark))
  for (const [index, op] of ops.entries()) {
    await body.apply(op)
    await plain.apply(op)
    // The tick in which a stream starts to flow is not compared.
    if (STARTS.has(op.do)) await turns()
    if (op.do === 'turn') assert.deepEqual(body.state(), plain.state(), `after operation ${index}`)
  }
}

describe('a response body beside a Readable of the runtime', () => {
  test('is the same at every turn of the loop, whatever is done with it', async () => {
    const op = fc.oneof(
      { weight: 4, arbitrary: arrive },
      { weight: 4, arbitrary: fc.constant(turn) },
      { weight: 3, arbitrary: read },
      { weight: 2, arbitrary: unshift },
      { weight: 1, arbitrary: plainly('complete', 'fail') },
      {
        weight: 4,
        arbitrary: plainly('pause', 'resume', 'data', 'no data', 'readable', 'no readable', 'pipe', 'unpipe'),
      },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 1, 4, 65_536),
        fc.option(encode, { nil: turn }),
        fc.array(op, { maxLength: 14 }),
        async (mark, first, all) => {
          // Streams of Node 20 that hold text throw after some reads of a given size, and after `unshift`.
          const ops = first.do === 'encode' ? all.filter((op) => !isPartial(op)) : all
          await compare(mark, [first, ...ops, turn, { do: 'complete' }, turn, { do: 'resume' }, turn])
        },
      ),
      { numRuns: RUNS },
    )
  })

  // A body may combine the pieces of an iterator. Only their concatenation is compared.
  test('iterated and read in other ways by turns, gives each byte once and in order', async () => {
    const complete: Op = { do: 'complete' }
    const op = fc.oneof(
      { weight: 4, arbitrary: plainly('next') },
      { weight: 2, arbitrary: arrive },
      { weight: 2, arbitrary: read },
      { weight: 1, arbitrary: fc.constant(turn) },
    )
    const isOfPeer = ({ do: name }: Op): boolean => name === 'arrive' || name === 'complete'
    await fc.assert(
      fc.asyncProperty(
        fc.array(arrive, { maxLength: 4 }),
        fc.boolean(),
        fc.array(op, { maxLength: 8 }),
        async (first, isWhole, ops) => {
          const body = new Run(bodySubject(65_536))
          const plain = new Run(plainSubject(65_536))
          const all = [...first, ...(isWhole ? [complete] : []), ...ops, complete]
          for (const each of all) await body.apply(each)
          for (const each of all.filter(isOfPeer)) await plain.apply(each)
          for (const run of [body, plain]) {
            for (let i = 0; i < 12; i++) await run.apply({ do: 'next' })
            // Ends even if the iterator had nothing to do.
            await run.apply({ do: 'read', size: undefined })
            await turns()
          }
          assert.equal(body.text, plain.text)
          assert.deepEqual(body.seen, plain.seen)
          assert.equal(body.stream.readableEnded, plain.stream.readableEnded)
          assert.equal(Readable.isDisturbed(body.stream), Readable.isDisturbed(plain.stream))
        },
      ),
      { numRuns: RUNS },
    )
  })

  test('collected, gives what a Readable would have given from then on', async () => {
    const before = fc.oneof(
      { weight: 3, arbitrary: arrive },
      { weight: 2, arbitrary: unshift },
      { weight: 2, arbitrary: fc.constant(turn) },
      { weight: 1, arbitrary: fc.constant<Op>({ do: 'read', size: 0 }) },
      { weight: 1, arbitrary: plainly('complete', 'pause') },
    )
    // In the same tick as the call, before the collection starts.
    const meanwhile = fc.option(fc.oneof(read, unshift), { nil: turn })
    await fc.assert(
      fc.asyncProperty(
        fc.array(before, { maxLength: 8 }),
        fc.constantFrom('text' as const, 'bytes' as const, 'arrayBuffer' as const, 'blob' as const),
        meanwhile,
        fc.array(arrive, { maxLength: 3 }),
        async (ops, method, inBetween, later) => {
          const body = new Run(bodySubject(65_536))
          const plain = new Run(plainSubject(65_536))
          for (const op of ops) {
            await body.apply(op)
            await plain.apply(op)
          }
          if (plain.stream.readableEnded) return
          const answer = (body.stream as BodyReadable)[method]()
          await Promise.all([body.apply(inBetween), plain.apply(inBetween)])
          assert.equal(body.text, plain.text)
          await turns()
          for (const op of [...later, { do: 'complete' } as Op]) {
            await body.apply(op)
            await plain.apply(op)
          }
          plain.stream.on('data', (chunk: Buffer) => plain.seen.push(chunk.toString('latin1'))).resume()
          const value = await answer
          await turns()
          const rest = plain.seen.filter((item) => item !== 'end' && item !== 'close').join('')
          const bytes = Buffer.from(rest, 'latin1')
          if (typeof value === 'string') assert.equal(value, bytes.toString())
          else {
            const got = value instanceof Blob ? await value.arrayBuffer() : (value as ArrayBuffer)
            assert.deepEqual(Buffer.from(got), bytes)
          }
          assert.deepEqual(body.seen, ['end', 'close'])
          assert.equal(body.stream.readableDidRead, plain.stream.readableDidRead)
        },
      ),
      { numRuns: RUNS },
    )
  })
})
