/**
 * The short run: every target on mutated recordings with a fixed seed, and every finding of longer runs
 * (`scripts/fuzz.ts`) again. The limits count executions, so that a run is the same on every machine.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadCorpus, loadRegressions } from './corpus.ts'
import { type Finding, fuzz, minimise, TARGETS, type Tally, trial } from './fuzzer.ts'
import type { Target } from './target.ts'

const SEED = 20_240_611

/** Executions per target: about a third of a second each. */
const EXECUTIONS: Readonly<Record<string, number>> = {
  'http1-parser': 2_000,
  'http2-engine': 500,
  'hpack-decoder': 500,
  'websocket-receiver': 3_500,
  'websocket-connection': 400,
  'cookie-parser': 4_000,
  'http1-client': 200,
  'http2-client': 80,
  'http1-differential': 400,
}

function describeFinding({ target, seed, input, error }: Finding): string {
  const { context, bytes } = input
  return `${target}, seed ${seed}, ${context}: ${bytes.toString('base64')}\n${error.stack}`
}

describe('recordings as they are', () => {
  for (const target of TARGETS) {
    it(target.name, async () => {
      const recordings = loadCorpus(target.corpus)
      assert.ok(recordings.length > 0)
      for (const recording of recordings) {
        assert.equal(await trial(target, recording, SEED), null, recording.name)
      }
    })
  }
})

describe('mutated recordings', () => {
  for (const target of TARGETS) {
    it(target.name, async (t) => {
      const tally: Tally = { executions: 0, bytes: 0 }
      const most = EXECUTIONS[target.name]
      assert.ok(most !== undefined)
      const finding = await fuzz(target, SEED, tally, ({ executions }) => executions < most)
      if (finding !== null) assert.fail(describeFinding(await minimise(target, finding)))
      assert.equal(tally.executions, most)
      t.diagnostic(`${target.name}: ${tally.executions} executions, ${tally.bytes} bytes fuzzed`)
    })
  }
})

describe('findings of former runs', () => {
  for (const { file, target, seed, input } of loadRegressions()) {
    it(file, async () => {
      const found = TARGETS.find(({ name }) => name === target)
      assert.ok(found, target)
      assert.equal(await trial(found, input, seed), null)
    })
  }
})

describe('the fuzzer', () => {
  const planted = (corpus: Target['corpus'], word: string): Target => ({
    name: 'planted',
    corpus,
    check: ({ bytes }) => {
      if (bytes.includes(word)) throw new TypeError(`a fault that ${word} leads to`)
    },
  })

  it('finds what is wrong, makes it small, and does so again', async () => {
    const target = planted('http1', 'gzip, chunked')
    const found: Finding[] = []
    for (let run = 0; run < 2; run++) {
      const finding = await fuzz(
        target,
        SEED,
        { executions: 0, bytes: 0 },
        (tally) => tally.executions < 5_000,
      )
      assert.ok(finding)
      found.push(await minimise(target, finding))
    }
    assert.equal(found[0]!.input.bytes.toString(), 'gzip, chunked')
    assert.deepEqual(found[1], { ...found[0], error: found[1]!.error })
  })

  it('takes an error that nobody caught for a finding', async () => {
    const target: Target = {
      name: 'planted',
      corpus: 'cookies',
      check: async () => {
        Promise.reject(new Error('nobody listens'))
        await new Promise((resolve) => setImmediate(resolve))
      },
    }
    const error = await trial(target, { name: '', context: '', bytes: Buffer.alloc(0) }, 1)
    assert.equal(error?.message, 'nobody listens')
  })
})
