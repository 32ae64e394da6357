// Every public name, and every member of the public types, says what it is: editors show it. Reads the
// declarations of the package as text, as tsc writes them: four spaces for each level.
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
/** What a subclass of a user never sees, and what explains itself. */
const EXEMPT = /^ {4}(?:#|_|private |protected |constructor\(|(?:(?:get|static|readonly) )*\[Symbol\.)/

/** Typed here, explained by the runtime. */
const INHERITED = new Set([
  'on',
  'once',
  'off',
  'addListener',
  'removeListener',
  'prependListener',
  'prependOnceListener',
  'addEventListener',
  'removeEventListener',
])

describe('the documentation in the declarations', () => {
  const { installed } = usePackage({ after })
  const dist = join(installed, 'dist')
  const places = publicNames(dist)

  test('every export says what it is', () => {
    const silent = []
    for (const [name, files] of places) {
      if (!files.some((file) => isDocumented(file, name))) silent.push(name)
    }
    assert.ok(places.size > 60, `only ${places.size} names were found`)
    assert.equal(silent.length, 0, silent.join('\n'))
  })

  test('every option and member says what it is', () => {
    const types = typesIn(dist)
    const checked = withParents(types, places)
    const speaks = (type, member) => {
      const { members, parents } = types.get(type) ?? { members: [], parents: [] }
      // Editors show what the member of a parent says when one that replaces it is silent.
      return (
        members.some(({ name, comment }) => name === member && comment) ||
        parents.some((parent) => speaks(parent, member))
      )
    }
    const silent = []
    for (const type of checked) {
      for (const { name } of types.get(type).members.filter(({ name }) => !INHERITED.has(name))) {
        if (!speaks(type, name)) silent.push(`${type}.${name}`)
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

/** Name → the files that declare it: a class and its namespace, or a value and a type, may share one. */
function publicNames(dist) {
  const text = readFileSync(join(dist, 'index.d.cts'), 'utf8')
  const places = new Map()
  for (const [, , list, path] of text.matchAll(FROM)) {
    for (const item of (list ?? '').split(',')) {
      const name = item
        .trim()
        .replace(/^type /, '')
        .split(' as ')[0]
      if (name !== '') places.set(name, declaringFiles(join(dist, `${path}.d.cts`), name))
    }
  }
  return places
}

/** Follows one `export … from`. */
function declaringFiles(file, name) {
  const text = readFileSync(file, 'utf8')
  for (const [whole, , list, path] of text.matchAll(FROM)) {
    if (!whole.startsWith('export')) continue
    const names = (list ?? '').split(',').map((item) => item.trim().replace(/^type /, ''))
    if (names.includes(name)) return declaringFiles(join(file, '..', `${path}.d.cts`), name)
  }
  return [file]
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

/** Classes and interfaces by name, public or not, with their members and the names in front of their body. */
function typesIn(dist) {
  const types = new Map()
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.d.cts')) continue
    const file = join(entry.parentPath, entry.name)
    const lines = linesOf(file)
    lines.forEach((line, start) => {
      const [, kind, type] = DECLARATION.exec(line) ?? []
      if (kind !== 'class' && kind !== 'interface') return
      const found = types.get(type) ?? { file, members: [], parents: [] }
      const heritage = line.match(/\w+/g).filter((word) => word !== type)
      types.set(type, {
        file: found.file,
        members: [...found.members, ...membersBehind(lines, start)],
        parents: [...found.parents, ...heritage],
      })
    })
  }
  return types
}

/** Overloads, and a setter behind its getter, share the comment of the first. */
function membersBehind(lines, start) {
  const members = []
  for (let at = start + 1; at < lines.length && lines[at] !== '}'; at++) {
    const name = MEMBER.exec(lines[at])?.[1]
    if (name !== undefined && !EXEMPT.test(lines[at])) members.push({ name, comment: hasComment(lines, at) })
  }
  return members
}

/** What a public class inherits from an internal one is public, too. */
function withParents(types, places) {
  const all = new Set()
  const add = (name) => {
    if (!types.has(name) || all.has(name)) return
    all.add(name)
    for (const parent of types.get(name).parents) add(parent)
  }
  // An internal type may have the name of a public one.
  for (const [name, files] of places) if (files.includes(types.get(name)?.file)) add(name)
  return all
}
