/** Every example runs, checks itself and leaves nothing open: the process ends with the last one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readPages, root } from './pages.ts'
import { runPrograms } from './programs.ts'

/** The server for the other examples; `snippets.test.ts` runs it. */
const SERVER = 'origin.mjs'

const names = readdirSync(join(root, 'examples')).filter((name) => /\.m[jt]s$/.test(name) && name !== SERVER)
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

  it('have the right types, where they have types', () => {
    const files = names.filter((name) => name.endsWith('.mts')).map((name) => join(root, 'examples', name))
    assert.ok(files.length > 0)
    const config = join(folder, 'tsconfig.json')
    writeFileSync(
      config,
      JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        compilerOptions: {
          typeRoots: [join(root, 'node_modules/@types')],
          paths: { ventuno: [join(root, 'src/index.ts')] },
        },
        include: [],
        files,
      }),
    )
    const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
    const { stdout } = spawnSync(process.execPath, [join(compiler, '../bin/tsc'), '-p', config], {
      encoding: 'utf8',
    })
    assert.equal(stdout, '')
  })

  it('show the client of a service in 60 lines', () => {
    const lines = readFileSync(join(root, 'examples/service-client.mts'), 'utf8').trimEnd().split('\n')
    assert.ok(lines.length <= 60, `${lines.length}`)
  })

  it('have the certificates of the tests', () => {
    const keys = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.pem'))
    assert.ok(keys.length > 0)
    for (const name of keys) {
      const copy = readFileSync(join(root, 'examples', name), 'utf8')
      assert.equal(copy, readFileSync(join(root, 'test/support/certs', name), 'utf8'), name)
    }
  })
})
