import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BodyBytes } from '../../src/base/bytes/body-bytes.ts'
import { InternalError } from '../../src/base/error/invariant.ts'
import { toText } from '../../src/body/collect.ts'
import {
  ASKED,
  advance,
  type BodyState,
  EMPTYING,
  HELD,
  ITERATING,
  STREAMING,
  UNANNOUNCED,
} from '../../src/body/state.ts'

const LARGE = 100_000

/** A body of one letter that has arrived in two pieces. */
function large(letter: string): BodyBytes {
  const memory = Buffer.alloc(LARGE, letter)
  const bytes = BodyBytes.begin(memory, 0, 60_000, LARGE)
  bytes.addLent(memory, 60_000, LARGE)
  return bytes
}

const STATES: Record<BodyState['kind'], BodyState> = {
  held: HELD,
  asked: ASKED,
  collecting: {
    kind: 'collecting',
    collector: { convert: toText, resolve: () => {}, reject: () => {} },
    bytes: BodyBytes.none(),
  },
  iterating: ITERATING,
  streaming: STREAMING,
  dumping: EMPTYING,
  ended: UNANNOUNCED,
  failed: { kind: 'failed', reason: null, isLoud: false, isUnused: false },
}

/** As docs/architecture.md has it. */
const FOLLOWING: Record<BodyState['kind'], string> = {
  held: 'asked iterating streaming dumping ended failed',
  asked: 'collecting ended failed',
  collecting: 'ended failed',
  iterating: 'streaming dumping ended failed',
  streaming: 'asked dumping failed',
  dumping: 'ended failed',
  ended: 'ended failed',
  failed: '',
}

describe('the states of a response body', () => {
  for (const [from, following] of Object.entries(FOLLOWING)) {
    it(`${from} → ${following || 'nothing'}`, () => {
      for (const [kind, to] of Object.entries(STATES)) {
        const step = (): BodyState => advance(STATES[from as BodyState['kind']], to)
        if (following.split(' ').includes(kind)) assert.equal(step(), to)
        else assert.throws(step, InternalError)
      }
    })
  }
})

describe('the bytes of a body', () => {
  const bytes = (...chunks: string[]): BodyBytes => {
    const all = BodyBytes.none()
    for (const chunk of chunks) all.add(Buffer.from(chunk))
    return all
  }

  it('are dropped from the front, within a chunk and beyond the end', () => {
    for (const [count, rest] of [
      [0, 'abcdef'],
      [1, 'bcdef'],
      [3, 'def'],
      [4, 'ef'],
      [9, ''],
    ] as const) {
      const all = bytes('abc', 'def')
      all.drop(count)
      assert.equal(String(all.view()), rest)
      assert.equal(all.size, rest.length)
    }
  })

  it('move into one piece when their length is announced', () => {
    const all = bytes('ab', 'c')
    all.expect(5, false)
    all.add(Buffer.from('de'))
    assert.equal(Buffer.from(all.own()).toString(), 'abcde')
    assert.equal(all.own().buffer.byteLength, 5)
    const longer = bytes('abc')
    longer.expect(2, false)
    longer.add(Buffer.from('d'))
    assert.equal(String(longer.view()), 'abcd')
  })

  it('leave their memory to a later body once they were read', () => {
    const first = large('a')
    const { buffer } = first.view()
    first.release()
    const second = large('b')
    assert.equal(second.view().buffer, buffer)
    assert.equal(String(second.view()), 'b'.repeat(LARGE))
  })

  it('keep memory that was given away', () => {
    const first = large('a')
    const own = first.own()
    first.release()
    const second = large('b')
    assert.notEqual(second.view().buffer, own.buffer)
    assert.equal(Buffer.from(own).toString(), 'a'.repeat(LARGE))
  })

  it('keep memory that a clone refers to', () => {
    const first = large('a')
    const copy = first.clone()
    first.view()
    first.release()
    large('b')
    assert.equal(String(copy.view()), 'a'.repeat(LARGE))
  })

  it('of a clone are its own', () => {
    const all = bytes('ab')
    const copy = all.clone()
    copy.add(Buffer.from('c'))
    assert.equal(all.shift()?.toString(), 'ab')
    assert.equal(String(copy.view()), 'abc')
    assert.equal(all.size, 0)
  })
})
