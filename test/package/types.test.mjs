// What two tools that look for mistakes in packages have to say.
import assert from 'node:assert/strict'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { root, run, usePackage } from './packed.mjs'

/**
 * The library is ESM only. `require()` of it works in every version of Node it is for, and TypeScript knows
 * that from 5.8 on; the tool still warns of runtimes before that.
 */
const ACCEPTED = new Set(['CJSResolvesToESM'])

describe('the package as tools see it', () => {
  const { tarball, installed, app } = usePackage({ after })

  test('publint has no complaint', async () => {
    const { messages, pkg } = await publint({
      pkgDir: installed,
      level: 'suggestion',
      strict: true,
      pack: false,
    })
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    )
  })

  test('the types are found in every way of resolving', async () => {
    const { types, problems } = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
    assert.ok(types, 'no types were found')
    const unexpected = problems.filter(
      ({ kind, resolutionKind }) => !(ACCEPTED.has(kind) && resolutionKind === 'node16-cjs'),
    )
    assert.deepEqual(unexpected, [])
  })

  // The two differ in one line. That the sample is what undici's users write is for undici's types to say.
  for (const [name, home] of [
    ['undici', join(root, 'test', 'package', 'node_modules', 'undici')],
    ['ventuno', installed],
  ]) {
    test(`a program written for undici compiles with the types of ${name}`, () => {
      if (home !== installed) symlinkSync(home, join(app, 'node_modules', name), 'junction')
      const sample = readFileSync(join(root, 'test', 'types', 'undici-user.ts'), 'utf8')
      const file = join(app, `${name}-user.mts`)
      writeFileSync(file, sample.replace("'../../src/index.ts'", `'${name}'`))
      const settings = {
        compilerOptions: {
          target: 'ES2023',
          lib: ['ES2023'],
          module: 'NodeNext',
          strict: true,
          noEmit: true,
          typeRoots: [join(root, 'node_modules', '@types')],
          types: ['node'],
          // Undici's declarations need a newer library than they say.
          skipLibCheck: name === 'undici',
        },
        files: [file],
      }
      writeFileSync(join(app, `${name}.json`), JSON.stringify(settings))
      const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
      run(process.execPath, [tsc, '-p', join(app, `${name}.json`)], { cwd: app })
    })
  }
})
