import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { BodyBytes } from '../../../src/base/bytes/body-bytes.ts'

/** Around the limits below which bytes are copied, shared, joined and presized. */
const size = fc.constantFrom(1, 3, 64, 65, 300, 4095, 4096, 4097, 16_384, 20_000)

type Step =
  | { do: 'add' | 'addLent' | 'unshift' | 'drop' | 'expect'; of: number; size: number }
  | { do: 'shift' | 'shiftOwn' | 'takeOwn' | 'clone' | 'chunks'; of: number }

const of = fc.nat(2)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('addLent' as const), of, size }) },
  fc.record({
    do: fc.constantFrom('add' as const, 'unshift' as const, 'drop' as const, 'expect' as const),
    of,
    size,
  }),
  fc.record({
    do: fc.constantFrom(
      'shift' as const,
      'shiftOwn' as const,
      'takeOwn' as const,
      'clone' as const,
      'chunks' as const,
    ),
    of,
  }),
)

describe('the bytes of several bodies that arrive in turns', () => {
  it('are those that came, in order, and in memory of their own when they are given away', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let letter = 0
        const next = (length: number): Buffer => Buffer.alloc(length, 97 + (letter++ % 26))
        const bodies = [0, 1, 2].map(() => ({ bytes: BodyBytes.none(), model: Buffer.alloc(0) }))
        for (const action of steps) {
          const body = bodies[action.of]!
          const { bytes, model } = body
          switch (action.do) {
            case 'add':
            case 'addLent': {
              const chunk = next(action.size)
              body.model = Buffer.concat([model, chunk])
              if (action.do === 'add') bytes.add(chunk)
              else {
                const lent = Buffer.concat([Buffer.from('..'), chunk, Buffer.from('.')])
                bytes.addLent(lent, 2, 2 + chunk.length)
                lent.fill(46)
              }
              break
            }
            case 'unshift': {
              const chunk = next(action.size)
              body.model = Buffer.concat([chunk, model])
              bytes.unshift(chunk)
              break
            }
            case 'drop':
              body.model = model.subarray(Math.min(action.size, model.length))
              bytes.drop(action.size)
              break
            case 'expect':
              bytes.expect(action.size * 3, action.size % 2 === 0)
              break
            case 'chunks':
              assert.equal(Buffer.concat([...bytes.chunks]).compare(model), 0)
              break
            case 'clone':
              body.bytes = bytes.clone()
              break
            default: {
              const chunk = bytes[action.do]()
              assert.equal(chunk === undefined, model.length === 0)
              if (chunk === undefined) break
              assert.equal(chunk.compare(model.subarray(0, chunk.length)), 0)
              body.model = model.subarray(chunk.length)
              if (action.do === 'shift') break
              assert.ok(chunk.length <= 64 || chunk.buffer.byteLength === chunk.length)
              chunk.fill(46)
            }
          }
          assert.equal(body.bytes.size, body.model.length)
        }
        for (const { bytes, model } of bodies) {
          assert.equal(bytes.view().compare(model), 0)
          assert.equal(bytes.text(), model.toString())
          const own = bytes.own()
          assert.equal(Buffer.compare(own, model), 0)
          assert.equal(own.buffer.byteLength, own.length)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('small ones that follow each other become one chunk', () => {
    const one = BodyBytes.none()
    const other = BodyBytes.none()
    const lent = Buffer.alloc(300, 'a')
    for (let i = 0; i < 7; i++) one.addLent(lent, 0, 300)
    other.addLent(lent, 0, 300)
    for (let i = 0; i < 3; i++) one.addLent(lent, 0, 300)
    // One more where the shared memory was full.
    assert.ok(one.chunks.length <= 3, `${one.chunks.length} chunks`)
    assert.equal(other.chunks.length, 1)
  })
})
