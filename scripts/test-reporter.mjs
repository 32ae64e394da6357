// The runner's `spec` reporter for compiled tests: places in scripts of build/ become places in the TypeScript files.
// Done here and not by `--enable-source-maps`: test processes make thousands of errors, and only a few are displayed.
// A test that is skipped without a reason fails the run: nobody could tell later whether it still has one. So does one that
// is marked with `todo`, whose failures the runner does not count.
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { spec as Spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const PLACE = /\b(build\/\w+\/[^\s():]+\.js):(\d+):(\d+)/g

const maps = new Map()

function mapOf(script) {
  let map = maps.get(script)
  if (map === undefined) {
    try {
      map = new SourceMap(JSON.parse(readFileSync(join(root, `${script}.map`), 'utf8')))
    } catch {
      map = null
    }
    maps.set(script, map)
  }
  return map
}

function original(place, script, line, column) {
  const entry = mapOf(script)?.findEntry(Number(line) - 1, Number(column) - 1)
  if (entry?.originalSource === undefined) return place
  return `${join(dirname(script), entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
}

export default async function* report(events) {
  const silent = []
  const postponed = []
  const all = Readable.from(watched(events, silent, postponed)).pipe(new Spec())
  for await (const text of all) yield String(text).replace(PLACE, original)
  yield* complaint('skipped without a reason', silent)
  yield* complaint('left to do', postponed)
}

function* complaint(what, names) {
  if (names.length === 0) return
  yield `✖ ${what}:\n${names.map((name) => `  ${name}\n`).join('')}`
  process.exitCode = 1
}

async function* watched(events, silent, postponed) {
  for await (const event of events) {
    const { name, skip, todo, file = '' } = event.data
    const isOver = event.type === 'test:pass' || event.type === 'test:fail'
    const place = `${name} (${relative(root, file)})`
    if (isOver && (skip === true || skip === '')) silent.push(place)
    if (isOver && todo !== undefined) postponed.push(place)
    yield event
  }
}
