/**
 * Our HTTP/1.1 client against the runtime's own on the same bytes: generated responses and, if present, the corpus of
 * the runtime's parser. Mutated recordings are compared in `fuzz.test.ts`.
 */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { loadVectors } from '../support/vectors.ts'
import { compare, describeComparison, isReviewedParser } from './parser-comparison.ts'
import { DIFFERENCES } from './parser-differences.ts'
import type { RequestShape } from './parser-outcome.ts'
import { Random } from './random.ts'
import { generateResponse } from './response-generator.ts'

const SEED = 9112
const GENERATED = 1_500

interface Vector {
  readonly id: string
  readonly title: string
  readonly input: string
  readonly expect: string
  readonly skipBody?: boolean
}

const { data, skip } = loadVectors<{ vectors: readonly Vector[] }>('llhttp-responses.json', { vectors: [] })

/** With an unverified parser version, a new difference is reported and does not fail. */
function report(t: TestContext, text: string): void {
  if (isReviewedParser) assert.fail(`not a listed difference:\n${text}`)
  t.diagnostic(`not a listed difference: ${text}`)
}

describe('the same response for both clients', () => {
  it('generated responses', async (t) => {
    const random = new Random(SEED)
    let accepted = 0
    let bytesCompared = 0
    const seen = new Set<string>()
    for (let i = 0; i < GENERATED; i++) {
      const { shape, bytes } = generateResponse(random)
      const { same, listed, comparison } = await compare(shape, bytes)
      bytesCompared += bytes.length
      if (comparison.ours.accepted) accepted++
      if (listed !== null) seen.add(listed.id)
      else if (!same) report(t, describeComparison(comparison))
    }
    // Otherwise it would only compare refusals.
    assert.ok(accepted > GENERATED / 3 && accepted < GENERATED, `${accepted} of ${GENERATED} were accepted`)
    t.diagnostic(`${GENERATED} responses, ${bytesCompared} bytes, ${accepted} accepted, ${[...seen].sort()}`)
  })

  describe('corpus of the runtime', { skip }, () => {
    for (const { id, title, input, expect, skipBody } of data.vectors) {
      it(`${id} ${title}`, async (t) => {
        const shape: RequestShape = expect === 'upgrade' ? 'GET upgrade' : skipBody === true ? 'HEAD' : 'GET'
        const { same, listed, comparison } = await compare(shape, Buffer.from(input, 'latin1'))
        if (!same && listed === null) report(t, describeComparison(comparison))
      })
    }
  })
})

describe('listed differences', () => {
  for (const { id, what, why, example } of DIFFERENCES) {
    it(id, async (t) => {
      assert.match(why, /RFC \d+ §/)
      assert.notEqual(what, '')
      const [shape, text] = example
      const { same, listed, comparison } = await compare(shape, Buffer.from(text, 'latin1'))
      if (isReviewedParser) assert.equal(listed?.id, id, describeComparison(comparison))
      else if (listed?.id !== id) t.diagnostic(`${id} is ${same ? 'no difference' : 'another one'} here`)
    })
  }

  it('have one name each', () => {
    assert.equal(new Set(DIFFERENCES.map(({ id }) => id)).size, DIFFERENCES.length)
  })
})
