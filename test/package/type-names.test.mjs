// Every type name of undici exists here under the same name, unless the package lacks the feature.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import ts from 'typescript'
import { root, usePackage } from './packed.mjs'

/** Namespaces and types of undici for features that the package lacks. Any other missing name is a mistake. */
const ABSENT = new Set([
  // Helpers of its declarations.
  ...['SpecIterable', 'SpecIterableIterator', 'SpecIterator', 'SpecIteratorObject'],
])

/** Of undici's folder `types`: helpers of its declarations. */
const ABSENT_FILES = new Set(['patch.d.ts', 'webidl.d.ts'])
const ABSENT_IN_FILES = new Set([
  ...['fetch.BodyMixin', 'fetch.SpecIterable', 'fetch.SpecIterableIterator', 'fetch.SpecIterator'],
  ...['fetch.SpecIteratorObject', 'header.HeaderNames', 'header.IANARegisteredMimeType'],
  ...['header.KnownHeaderValues', 'utility.AutocompletePrimitiveBaseType'],
])

describe('the names of types', () => {
  const { installed } = usePackage({ after })
  const theirs = join(root, 'test', 'package', 'node_modules', 'undici', 'types', 'index.d.ts')
  const ours = join(installed, 'dist', 'index.d.ts')
  const theirFolder = join(theirs, '..')
  const ourFolder = join(installed, 'types')
  const folderFiles = readdirSync(theirFolder).filter(
    (name) => name.endsWith('.d.ts') && !ABSENT_FILES.has(name),
  )
  const program = ts.createProgram(
    [theirs, ours, ...folderFiles.flatMap((name) => [join(theirFolder, name), join(ourFolder, name)])],
    {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      typeRoots: [join(root, 'node_modules', '@types')],
      types: ['node'],
      esModuleInterop: true,
    },
  )
  const checker = program.getTypeChecker()

  /** Top-level names, and `Name.Member` for members of a namespace. */
  const namesIn = (file) => {
    const names = new Map()
    for (const symbol of exportsOf(checker.getSymbolAtLocation(program.getSourceFile(file)))) {
      names.set(symbol.name, resolved(symbol))
      for (const member of exportsOf(resolved(symbol))) {
        if (member.name !== 'prototype') names.set(`${symbol.name}.${member.name}`, resolved(member))
      }
    }
    return names
  }
  const exportsOf = (symbol) =>
    symbol.flags & (ts.SymbolFlags.Module | ts.SymbolFlags.Namespace)
      ? checker.getExportsOfModule(symbol)
      : []
  const resolved = (symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  /** A namespace without values counts, too. */
  const isType = ({ flags }) => (flags & (ts.SymbolFlags.Type | ts.SymbolFlags.NamespaceModule)) !== 0

  test('all that are for something that is exported are exported', () => {
    const [undici, own] = [namesIn(theirs), namesIn(ours)]
    const missing = []
    for (const [name, symbol] of undici) {
      if (!isType(symbol) || own.has(name) || ABSENT.has(name)) continue
      const [space, member] = name.split('.')
      // A missing value has no types, either.
      const isValue = (symbol.flags & ts.SymbolFlags.Value) !== 0
      if (member === undefined ? isValue : !own.has(space)) continue
      missing.push(name)
    }
    assert.ok(undici.size > 100, `only ${undici.size} names were found`)
    assert.deepEqual(missing, [])
  })

  test('the files of the folder of types export the same names', () => {
    const missing = []
    for (const name of folderFiles) {
      const file = name.replace(/\.d\.ts$/, '')
      if (!existsSync(join(ourFolder, name)) || !existsSync(join(ourFolder, `${file}.d.cts`))) {
        missing.push(file)
        continue
      }
      if (file === 'index') continue
      const own = exportsOf(checker.getSymbolAtLocation(program.getSourceFile(join(ourFolder, name))))
      const known = new Set(own.map((symbol) => symbol.name))
      for (const symbol of exportsOf(
        checker.getSymbolAtLocation(program.getSourceFile(join(theirFolder, name))),
      )) {
        if (!known.has(symbol.name)) missing.push(`${file}.${symbol.name}`)
      }
    }
    assert.ok(folderFiles.length > 40, `only ${folderFiles.length} files were found`)
    assert.deepEqual(new Set(missing), ABSENT_IN_FILES)
  })

  test('what is listed as absent is absent, and is in undici', () => {
    const [undici, own] = [namesIn(theirs), namesIn(ours)]
    assert.deepEqual(
      [...ABSENT].filter((name) => own.has(name) || !undici.has(name)),
      [],
    )
  })
})
