// The verdict of two tools that find mistakes in packages.
import assert from 'node:assert/strict'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { root, run, usePackage } from './packed.mjs'

/** Programs written for undici, with only the import changed. */
const SAMPLES = ['undici-user', 'proxy-plugin', 'search-transport', 'bot-rest', 'telemetry']

const COMPILERS = {
  7: join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
  5: join(root, 'test', 'package', 'node_modules', 'typescript', 'bin', 'tsc'),
}

/** Compiler settings of a program; `kinds` are the extensions of the importers. */
const RESOLUTIONS = {
  node16: { module: 'node16', kinds: ['mts', 'cts'] },
  nodenext: { module: 'nodenext', kinds: ['mts', 'cts'] },
  bundler: { module: 'preserve', moduleResolution: 'bundler', kinds: ['mts', 'cts', 'ts'] },
}

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
    assert.deepEqual(problems, [])
  })

  /** Compiles the samples with another name in place of the path of the source. */
  const compile = (name, compiler, kinds, settings) => {
    const files = SAMPLES.flatMap((sample) =>
      kinds.map((kind) => {
        const text = readFileSync(join(root, 'test', 'types', `${sample}.ts`), 'utf8')
        const file = join(app, `${name}-${sample}.${kind}`)
        writeFileSync(file, text.replace("'../../src/index.ts'", `'${name}'`))
        return file
      }),
    )
    const compilerOptions = {
      target: 'ES2023',
      lib: ['ES2023'],
      strict: true,
      noEmit: true,
      typeRoots: [join(root, 'node_modules', '@types')],
      types: ['node'],
      ...settings,
    }
    const project = join(app, `${name}-${settings.module}.json`)
    writeFileSync(project, JSON.stringify({ compilerOptions, files }))
    run(process.execPath, [compiler, '-p', project], { cwd: app })
  }

  // Undici's own types confirm that the samples are valid code for undici.
  test('programs written for undici compile with the types of undici', () => {
    const undici = join(root, 'test', 'package', 'node_modules', 'undici')
    symlinkSync(undici, join(app, 'node_modules', 'undici'), 'junction')
    // Its declarations need a newer library than they declare.
    compile('undici', COMPILERS[7], ['mts'], { module: 'nodenext', skipLibCheck: true })
  })

  for (const version of Object.keys(COMPILERS)) {
    for (const [resolution, { kinds, ...settings }] of Object.entries(RESOLUTIONS)) {
      test(`they compile with ours: TypeScript ${version}, ${resolution}, from ${kinds.join(' and ')}`, () => {
        const strictest = { exactOptionalPropertyTypes: true, skipLibCheck: false }
        compile('ventuno', COMPILERS[version], kinds, { ...settings, ...strictest })
      })
    }
  }

  test('a class that was imported is the type of one that was required', () => {
    const types = [
      ['imported.mts', `export { Client, errors, Pool } from 'ventuno'`],
      [
        'both.mts',
        `import required = require('ventuno')
        import * as imported from 'ventuno'
        import ventuno, { type Dispatcher } from 'ventuno'
        export const dispatcher: Dispatcher = new required.Client('http://localhost')
        export const pool: required.Pool = new imported.Pool('http://localhost')
        export const options: required.ClientOptions = {} satisfies imported.ClientOptions
        export const same: typeof required.Agent = ventuno.Agent
        export const object: typeof ventuno = required.default`,
      ],
      [
        'replaced.cts',
        `import ventuno = require('ventuno')
        ventuno.default.request = async () => ({}) as never`,
      ],
    ]
    for (const [name, text] of types) writeFileSync(join(app, name), text)
    const words = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023']
    const roots = ['--typeRoots', join(root, 'node_modules', '@types'), '--types', 'node']
    for (const compiler of Object.values(COMPILERS)) {
      const files = types.map(([name]) => join(app, name))
      run(process.execPath, [compiler, ...words, ...roots, ...files], { cwd: app })
    }
  })
})
