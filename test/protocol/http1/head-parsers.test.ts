/** Connections that share their head parsers, as those of a pool do. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HeadParsers } from '../../../src/protocol/http1/head-parsers.ts'
import { ResponseParser } from '../../../src/protocol/http1/response-parser.ts'
import { Recorder, singleBytes, transcript } from './transcript.ts'

const ONE = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 3\r\nx-one: 1\r\n\r\none')
const TWO = Buffer.from(
  'HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\nx-two: 2\r\n\r\n',
)
const BROKEN = Buffer.from('HTTP/1.1 200 OK\r\nno colon\r\n\r\n')

class Peer {
  readonly #recorder = new Recorder()
  readonly #parser: ResponseParser

  constructor(heads: HeadParsers) {
    this.#parser = new ResponseParser(this.#recorder, heads)
    this.#parser.expect('GET', false)
  }

  feed(bytes: Buffer): void {
    this.#parser.execute(bytes, 0, bytes.length)
  }

  get lines(): string[] {
    const lines = [...this.#recorder.flush()]
    if (this.#parser.failure !== null) lines.push(`failure ${this.#parser.failure.code}`)
    return lines
  }
}

function heads(): HeadParsers {
  return new HeadParsers({ maxHeaderSize: 16_384 })
}

function alone(bytes: Buffer): string[] {
  return transcript([bytes], { requests: ['GET'] })
}

describe('HeadParsers', () => {
  it('heads that come in turns, byte by byte, stay apart', () => {
    const shared = heads()
    const [one, two] = [new Peer(shared), new Peer(shared)]
    const [first, second] = [singleBytes(ONE), singleBytes(TWO)]
    while (first.length + second.length > 0) {
      const next = first.shift()
      if (next !== undefined) one.feed(next)
      const other = second.shift()
      if (other !== undefined) two.feed(other)
    }
    assert.deepEqual(one.lines, alone(ONE))
    assert.deepEqual(two.lines, alone(TWO))
  })

  it('a head that one connection got is known on another', () => {
    const shared = heads()
    new Peer(shared).feed(ONE)
    const other = new Peer(shared)
    other.feed(ONE.subarray(0, -3))
    // Meanwhile a third gets another head.
    new Peer(shared).feed(TWO)
    other.feed(ONE.subarray(-3))
    assert.deepEqual(other.lines, alone(ONE))
  })

  it('a head that is wrong harms nobody else', () => {
    const shared = heads()
    const broken = new Peer(shared)
    broken.feed(BROKEN)
    const other = new Peer(shared)
    other.feed(ONE)
    assert.deepEqual(broken.lines, alone(BROKEN))
    assert.deepEqual(other.lines, alone(ONE))
  })

  it('a connection that is lost within a head harms nobody else', () => {
    const shared = heads()
    new Peer(shared).feed(ONE.subarray(0, 20))
    const other = new Peer(shared)
    other.feed(TWO)
    assert.deepEqual(other.lines, alone(TWO))
  })
})
