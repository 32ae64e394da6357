/**
 * Every program in the documents is run and type-checked. They name the ports of `examples/origin.mjs`, which a reader
 * starts manually; the test replaces each by a free one.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Origins, startOrigins } from './origins.ts'
import { outputOf, programIn, readPages, root } from './pages.ts'
import { type Program, runPrograms } from './programs.ts'

/** So that a bug in the search is not mistaken for success. */
const FEWEST_PROGRAMS = 40

describe('the programs in the documents', () => {
  let origins: Origins
  let programs: Program[]

  before(async () => {
    origins = await startOrigins()
    programs = readPages()
      .flatMap((page) => page.blocks)
      .flatMap((block) => {
        const source = programIn(block)
        if (source === null) return []
        const text = origins.withPorts(source)
        const file = join(origins.folder, `${block.place.replace(/[^a-z0-9]+/gi, '-')}.mts`)
        writeFileSync(file, text)
        return [{ name: block.place, file, expected: outputOf(text) }]
      })
  })

  after(() => origins.close())

  it('run and print what they say', async () => {
    assert.ok(programs.length >= FEWEST_PROGRAMS)
    const problems = await runPrograms(programs, origins.folder)
    assert.equal(problems.join('\n\n'), '')
  })

  it('have the right types', async () => {
    const config = join(origins.folder, 'tsconfig.json')
    writeFileSync(
      config,
      JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        compilerOptions: {
          // A snippet is written as JavaScript: it names no types and ignores parameters it does not need.
          noImplicitAny: false,
          useUnknownInCatchVariables: false,
          strictFunctionTypes: false,
          noImplicitOverride: false,
          noUnusedLocals: false,
          noUnusedParameters: false,
          typeRoots: [join(root, 'node_modules/@types')],
          paths: { ventuno: [join(root, 'src/index.ts')] },
        },
        include: ['*.mts'],
      }),
    )
    const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
    const child = spawn(process.execPath, [join(compiler, '../bin/tsc'), '-p', config], {
      cwd: origins.folder,
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
    const [code] = (await once(child, 'close')) as [number]
    assert.equal(output, '')
    assert.equal(code, 0)
  })
})
