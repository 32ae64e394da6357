// Small programs written for undici (test/types/snippets) compile against its declarations and, with only the import
// changed, against the packed package: where undici's have no error, ours have none. In the snippets 'undici' is the
// package under test, and 'undici8' is always undici.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { after, describe, test } from 'node:test'
import { root, usePackage } from './packed.mjs'
import { COMPILERS } from './type-errors.mjs'
import { EXCEPTIONS, SETTINGS, VERSIONS_OF_NODE } from './types-matrix.mjs'

const SNIPPETS = join(root, 'test', 'types', 'snippets')
const TOOLS = join(root, 'test', 'package', 'node_modules')

/** The programs of the guide before the change of the import, with their names. */
function migratedPrograms() {
  const page = readFileSync(join(root, 'docs', 'guides', 'migrating.md'), 'utf8')
  const programs = [...page.matchAll(/^```diff\n(.*?)^```$/gms)].map(([, lines]) => lines.split('\n'))
  return programs
    .map((lines) => lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1)))
    .filter((lines) => lines.some((line) => line.endsWith(" from 'undici'")))
    .map((lines, i) => [`migrating/${i + 1}`, lines.join('\n')])
}

function kindsOf(snippet, kinds) {
  // They are modules with `await`.
  if (snippet.startsWith('migrating/')) return ['mts']
  // An augmentation is one of the entry of the package that the file imports, and a program has one entry.
  return snippet.includes('augmented') ? kinds.slice(0, 1) : kinds
}

describe('the types of undici and ours', () => {
  const { app, installed } = usePackage({ after })
  const texts = new Map(migratedPrograms())
  for (const file of readdirSync(SNIPPETS, { recursive: true })) {
    if (!file.endsWith('.ts')) continue
    const name = file.slice(0, -'.ts'.length).split(sep).join('/')
    texts.set(name, readFileSync(join(SNIPPETS, file), 'utf8'))
  }
  const snippets = [...texts.keys()].sort()
  /** Snippets that compile with undici in some setting, and those with errors of ours alone. */
  const valid = new Set()
  const different = new Set()

  /** Errors of each snippet, and those in the declarations of the package. */
  const compile = (name, folder, { compiler, kinds, ...compilerOptions }) => {
    const files = new Map()
    for (const snippet of snippets) {
      const text = texts.get(snippet)
      for (const kind of kindsOf(snippet, kinds)) {
        const file = join(folder, name, `${snippet}.${kind}`)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, text.replaceAll(/(?<=['"])undici(?=['"/])/g, name))
        files.set(file, snippet)
      }
    }
    const options = {
      ...compilerOptions,
      ...{ noEmit: true, strict: true, types: ['node'], typeRoots: [join(folder, 'node_modules', '@types')] },
      // The declarations of undici need newer libraries than they say.
      skipLibCheck: name === 'undici',
    }
    const errors = new Map()
    const own = []
    for (const { file, text } of COMPILERS[compiler](folder, name, options, [...files.keys()])) {
      const snippet = files.get(file)
      if (snippet !== undefined) errors.set(snippet, [...(errors.get(snippet) ?? []), text])
      else if (!relative(installed, file).startsWith('..')) own.push(text)
    }
    return { errors, own }
  }

  for (const version of VERSIONS_OF_NODE) {
    for (const [title, settings] of Object.entries(SETTINGS)) {
      const setting = `@types/node ${version}, ${title}`
      test(setting, () => {
        const folder = join(app, `node${version}-${title.replaceAll(/\W+/g, '-')}`)
        const modules = join(folder, 'node_modules')
        mkdirSync(join(modules, '@types'), { recursive: true })
        symlinkSync(join(TOOLS, `types-node${version}`), join(modules, '@types', 'node'), 'junction')
        symlinkSync(join(TOOLS, 'undici'), join(modules, 'undici'), 'junction')
        symlinkSync(join(TOOLS, 'undici'), join(modules, 'undici8'), 'junction')
        const theirs = compile('undici', folder, settings).errors
        const { errors: ours, own } = compile('ventuno', folder, settings)
        assert.deepEqual(own, [], 'errors in the declarations themselves')
        const unexpected = []
        let count = 0
        for (const snippet of snippets) {
          if (!theirs.has(snippet)) valid.add(snippet)
          if (theirs.has(snippet) || !ours.has(snippet)) continue
          count++
          different.add(snippet)
          const exception = EXCEPTIONS[snippet]
          if (exception === undefined || !exception.in.test(setting)) unexpected.push(...ours.get(snippet))
        }
        console.log(
          `${setting}: ${snippets.length} snippets, with errors: ` +
            `undici ${theirs.size}, ventuno ${ours.size}, only ventuno ${count}`,
        )
        assert.deepEqual(unexpected, [])
      })
    }
  }

  test('the guide has whole programs', () => {
    assert.ok(snippets.filter((snippet) => snippet.startsWith('migrating/')).length >= 3)
  })

  test('every snippet compiles with undici in some setting', () => {
    assert.deepEqual(
      snippets.filter((snippet) => !valid.has(snippet)),
      [],
    )
  })

  test('every exception is one', () => {
    assert.deepEqual(
      Object.keys(EXCEPTIONS).filter((snippet) => !different.has(snippet)),
      [],
    )
  })
})
