// Every public name, and every member of the public types, has a comment, which editors show. Reads the declarations of
// the package as text, as tsc writes them: four spaces for each level.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { usePackage } from './packed.mjs'

/** `import { a, type B as C } from './x.cjs'` and the same with `export`. */
const FROM = /^(?:import|export) (?:type )?(?:\* as (\w+)|\{([^}]*)\}) from '(\.[^']+)\.cjs';$/gm
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(class|interface|type|const|let|function|namespace) (\w+)/
const MEMBER =
  /^ {4}(?:(?:static|readonly|abstract|override|get|set|declare|async) )*(\[[\w.]+\]|\w+)\??[:(<;]/
/** Members that are invisible to a user's subclass or self-explanatory. */
const EXEMPT = /^ {4}(?:#|_|private |protected |constructor\(|(?:(?:get|static|readonly) )*\[Symbol\.)/

/** Typed here, documented by the runtime. */
const INHERITED = new Set([
  'on',
  'once',
  'off',
  'addListener',
  'removeListener',
  'prependListener',
  'prependOnceListener',
  'listeners',
  'rawListeners',
  'addEventListener',
  'removeEventListener',
])

describe('the documentation in the declarations', () => {
  const { installed } = usePackage({ after })
  const dist = join(installed, 'dist')
  const places = publicNames(dist)

  test('every export says what it is', () => {
    const silent = []
    for (const [name, declared] of places) {
      if (!isDocumented(declared.file, declared.name)) silent.push(name)
    }
    assert.ok(places.size > 60, `only ${places.size} names were found`)
    assert.equal(silent.length, 0, silent.join('\n'))
  })

  test('every option and member says what it is', () => {
    const types = typesIn(dist)
    const checked = withParents(types, places)
    const speaks = (key, member) => {
      const { members, parents } = types.get(key) ?? { members: [], parents: [] }
      // Editors show the comment of the overridden member if the overriding one has none.
      return (
        members.some(({ name, comment }) => name === member && comment) ||
        parents.some((parent) => speaks(parent, member))
      )
    }
    const silent = []
    for (const key of checked) {
      const { type, members } = types.get(key)
      for (const { name } of members.filter(({ name }) => !INHERITED.has(name))) {
        if (!speaks(key, name)) silent.push(`${type}.${name}`)
      }
    }
    assert.ok(checked.size > 50, `only ${checked.size} types were found`)
    assert.equal(silent.length, 0, [...new Set(silent)].join('\n'))
  })

  test('every error class says when it occurs', () => {
    const lines = linesOf(join(dist, 'errors.d.cts'))
    const silent = lines.filter((line, at) => /^export declare class/.test(line) && !hasComment(lines, at))
    assert.deepEqual(silent, [])
  })
})

/** Public name → the file that declares it, and its name there. */
function publicNames(dist) {
  const places = new Map()
  for (const { path, name, as } of namesIn(join(dist, 'index.d.cts'))) {
    places.set(as, declaration(join(dist, `${path}.d.cts`), name))
  }
  return places
}

/** The imports and re-exports of a file. */
function namesIn(file) {
  return [...readFileSync(file, 'utf8').matchAll(FROM)].flatMap(([whole, , list, path]) =>
    (list ?? '')
      .split(',')
      .map((item) => item.trim().replace(/^type /, ''))
      .filter((item) => item !== '')
      .map((item) => {
        const [name, as = name] = item.split(' as ')
        return { path, name, as, isExport: whole.startsWith('export') }
      }),
  )
}

/** Follows `export … from`. */
function declaration(file, name) {
  const from = namesIn(file).find(({ as, isExport }) => isExport && as === name)
  return from === undefined ? { file, name } : declaration(join(file, '..', `${from.path}.d.cts`), from.name)
}

function linesOf(file) {
  return readFileSync(file, 'utf8').split('\n')
}

/** A comment with words before its first tag. */
function hasComment(lines, at) {
  if (!lines[at - 1]?.trimEnd().endsWith('*/')) return false
  const start = lines.slice(0, at).findLastIndex((line) => line.trimStart().startsWith('/**'))
  return /^[\s/*]*[^\s/*@]/.test(lines.slice(start, at).join('\n'))
}

/** The declarations of a name, as line numbers. */
function declarationsOf(lines, name) {
  return lines.flatMap((line, at) => (DECLARATION.exec(line)?.[2] === name ? [at] : []))
}

function isDocumented(file, name) {
  const lines = linesOf(file)
  return declarationsOf(lines, name).some((at) => hasComment(lines, at))
}

/** Classes and interfaces, public or not, with their members and the types named in their header. */
function typesIn(dist) {
  const types = new Map()
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.d.cts')) continue
    const file = join(entry.parentPath, entry.name)
    const lines = linesOf(file)
    lines.forEach((line, start) => {
      const [, kind, type] = DECLARATION.exec(line) ?? []
      if (kind !== 'class' && kind !== 'interface') return
      const key = keyOf({ file, name: type })
      const found = types.get(key) ?? { type, members: [], parents: [] }
      const heritage = line.match(/\w+/g).filter((word) => word !== type)
      types.set(key, {
        type,
        members: [...found.members, ...membersBehind(lines, start)],
        parents: [...found.parents, ...heritage.map((word) => keyOf(meant(file, word)))],
      })
    })
  }
  return types
}

/** Two files may have types of the same name. */
function keyOf({ file, name }) {
  return `${file} ${name}`
}

/** The declaration that a name in a file refers to. */
function meant(file, word) {
  const from = namesIn(file).find(({ as }) => as === word)
  return from === undefined
    ? { file, name: word }
    : declaration(join(file, '..', `${from.path}.d.cts`), from.name)
}

/** Overloads, and a setter after its getter, share the comment of the first. */
function membersBehind(lines, start) {
  const members = []
  for (let at = start + 1; at < lines.length && lines[at] !== '}'; at++) {
    const name = MEMBER.exec(lines[at])?.[1]
    if (name !== undefined && !EXEMPT.test(lines[at])) members.push({ name, comment: hasComment(lines, at) })
  }
  return members
}

/** Members that a public class inherits from an internal one are public, too. */
function withParents(types, places) {
  const all = new Set()
  const add = (key) => {
    if (!types.has(key) || all.has(key)) return
    all.add(key)
    for (const parent of types.get(key).parents) add(parent)
  }
  for (const declared of places.values()) add(keyOf(declared))
  return all
}
