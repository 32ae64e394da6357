// The runner's `spec` reporter for compiled tests: places in scripts of build/ become places in the TypeScript files.
// Done here and not by `--enable-source-maps`: test processes make thousands of errors, and only a few are displayed.
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join } from 'node:path'
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
  for await (const text of Readable.from(events).pipe(new Spec())) yield String(text).replace(PLACE, original)
}
