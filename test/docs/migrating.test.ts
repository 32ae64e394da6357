/** The programs of the guide on migrating; `snippets.test.ts` runs them as they are afterwards. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readPages } from './pages.ts'

/** How many times as long as before a program may be. */
const LONGEST = 1.2

const page = readPages().find(({ path }) => path === 'docs/guides/migrating.md')!

function lines(text: string, isOne: (line: string) => boolean): number {
  return text.split('\n').filter((line) => line.trim() !== '' && isOne(line)).length
}

describe('a program that was written for', () => {
  for (const name of ['axios', 'got', 'ky', 'node-fetch', 'superagent']) {
    it(`${name} is not longer with http`, () => {
      const block = page.blocks.find(({ text }) => text.startsWith('-') && text.includes(`from '${name}'\n`))
      assert.ok(block !== undefined)
      assert.match(block.text, /^\+import \{ http \} from 'ventuno'$/m)
      const before = lines(block.text, (line) => !line.startsWith('+'))
      const after = lines(block.text, (line) => !line.startsWith('-'))
      assert.ok(after <= LONGEST * before, `${after} lines in place of ${before}`)
    })
  }
})
