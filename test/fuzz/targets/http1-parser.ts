/** The HTTP/1.1 response parser: its events depend on the bytes alone, and a failure is permanent. */
import assert from 'node:assert/strict'
import { HeadParsers } from '../../../src/protocol/http1/head-parsers.ts'
import { ResponseParser } from '../../../src/protocol/http1/response-parser.ts'
import { Recorder } from '../../protocol/http1/transcript.ts'
import type { Recording } from '../corpus.ts'
import { cut } from '../mutator.ts'
import type { Random } from '../random.ts'
import type { Target } from '../target.ts'

/** Less than one recording needs with its longest fields doubled, so that the limit is reached, too. */
const MAX_HEADER_SIZE = 2_048

const MORE = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')

class Reading {
  readonly #recorder = new Recorder()
  readonly #parser: ResponseParser
  readonly #calls = { begin: 0, informational: 0, head: 0, body: 0, end: 0, upgrade: 0 }
  #rest = ''

  /** `pauses` decides after each callback; the parser is resumed right away. */
  constructor(context: string, heads: HeadParsers, pauses: () => boolean) {
    this.#parser = new ResponseParser(this.#recorder, heads)
    for (const request of context.split(',')) {
      const [method = '', upgrade] = request.split(' ')
      this.#parser.expect(method, upgrade === 'upgrade')
    }
    this.#recorder.react = (callback) => {
      this.#calls[callback]++
      if (callback !== 'upgrade' && pauses()) this.#parser.pause()
    }
  }

  feed(bytes: Buffer): void {
    let at = 0
    do {
      if (this.#parser.status === 'paused') this.#parser.resume()
      const next = this.#parser.execute(bytes, at, bytes.length)
      assert.ok(next >= at && next <= bytes.length, 'the offset moves forward, within the bytes')
      at = next
    } while (this.#parser.status === 'paused')
    this.#rest += bytes.toString('latin1', at)
  }

  finish(): void {
    this.#parser.finish()
    while (this.#parser.status === 'paused') {
      this.#parser.resume()
      this.#parser.execute(MORE, 0, 0)
    }
  }

  /** All events; the bytes after an upgrade belong to the caller, those after a failure are discarded. */
  report(): string[] {
    const lines = [...this.#recorder.flush()]
    const { failure, status } = this.#parser
    lines.push(`${status} ${failure?.code}`)
    if (status === 'upgraded') lines.push(`rest ${this.#rest}`)
    return lines
  }

  /** Finished, whatever still arrives. */
  assertSticky(): void {
    const { status, failure } = this.#parser
    assert.ok(status === 'failed' || status === 'ended' || status === 'upgraded', status)
    const before = this.report()
    const calls = { ...this.#calls }
    const consumed = this.#parser.execute(MORE, 0, MORE.length)
    this.#parser.finish()
    assert.equal(consumed, 0, 'bytes were consumed after the end')
    assert.equal(this.#parser.failure, failure)
    assert.deepEqual(this.#calls, calls)
    assert.deepEqual(this.report(), before)
  }

  assertBounded(requests: number, length: number): void {
    const { begin, informational, head, body, end, upgrade } = this.#calls
    assert.ok(head + upgrade <= requests, 'more responses than requests')
    assert.ok(end <= head)
    assert.equal(begin - informational - head - upgrade <= 1, true)
    assert.ok(begin + informational + head + body + end <= 2 * length + 2, 'more events than bytes explain')
  }
}

/** RFC 9112 §9.6: bytes after a response that closes the connection do not answer a request. */
function assertNothingAfterLast(lines: readonly string[]): void {
  let isLast = false
  let isOver = false
  for (const line of lines) {
    if (line.startsWith('begin')) assert.ok(!isOver, 'a response behind the last one')
    if (line.startsWith('head ')) isLast = line.endsWith(' close') || line.includes(' close hint=')
    if (line === 'end' && isLast) isOver = true
  }
}

function check({ context, bytes }: Recording, random: Random): void {
  const heads = new HeadParsers({ maxHeaderSize: MAX_HEADER_SIZE })
  const whole = new Reading(context, heads, () => false)
  whole.feed(bytes)
  whole.finish()
  const expected = whole.report()
  whole.assertBounded(context.split(',').length, bytes.length)
  whole.assertSticky()
  assertNothingAfterLast(expected)

  const pauses = random.oneIn(2) ? () => random.oneIn(3) : () => false
  const readings = [1, 2].map(() => ({
    reading: new Reading(context, heads, pauses),
    pieces: [...cut(bytes, random)],
  }))
  // Two connections in turns, like those of a pool.
  while (readings.some(({ pieces }) => pieces.length > 0)) {
    const { reading, pieces } = random.oneIn(2) ? readings[0]! : readings[1]!
    const piece = pieces.shift()
    if (piece !== undefined) reading.feed(piece)
  }
  for (const { reading } of readings) {
    reading.finish()
    assert.deepEqual(reading.report(), expected, 'the same bytes in other pieces')
  }
}

export const http1Parser: Target = { name: 'http1-parser', corpus: 'http1', check }
