/** Every example runs, checks itself and leaves nothing open: the process ends with the last one. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readPages, root } from './pages.ts'
import { runPrograms } from './programs.ts'

/** The server for the other examples; `snippets.test.ts` runs it. */
const SERVER = 'origin.mjs'

const names = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.mjs') && name !== SERVER)
const folder = mkdtempSync(join(tmpdir(), 'examples-'))

after(() => rmSync(folder, { recursive: true, force: true }))

describe('the examples', () => {
  it('run to their end', async () => {
    const programs = names.map((name) => ({
      name: `examples/${name}`,
      file: join(root, 'examples', name),
      expected: [],
    }))
    const problems = await runPrograms(programs, folder)
    assert.equal(problems.join('\n\n'), '')
  })

  for (const name of names) {
    it(`${name} checks what it shows and is named in the documents`, () => {
      const text = readFileSync(join(root, 'examples', name), 'utf8')
      assert.match(text, /from 'node:assert\/strict'/)
      assert.match(text, /from 'ventuno'/)
      assert.ok(readPages().some((page) => page.text.includes(`examples/${name}`)))
    })
  }

  it('have the certificates of the tests', () => {
    const keys = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.pem'))
    assert.ok(keys.length > 0)
    for (const name of keys) {
      const copy = readFileSync(join(root, 'examples', name), 'utf8')
      assert.equal(copy, readFileSync(join(root, 'test/support/certs', name), 'utf8'), name)
    }
  })
})
