// After tsc: keeps the declarations that dist/index.d.ts leads to, and makes them name each other as `.js`
// files, which every version of TypeScript finds whatever its settings are.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
const SPECIFIER = /(\bfrom |\bimport\()'(\.[^']+)\.ts'/g

const kept = new Set()
keep(join(dist, 'index.d.ts'))
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name)
  if (entry.isFile() && !kept.has(file)) rmSync(file)
}
for (const entry of readdirSync(dist, { withFileTypes: true })) {
  const folder = join(dist, entry.name)
  if (entry.isDirectory() && !hasFiles(folder)) rmSync(folder, { recursive: true })
}
console.log(`declarations: ${kept.size} files`)

function keep(file) {
  if (kept.has(file)) return
  kept.add(file)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(SPECIFIER, "$1'$2.js'"))
  for (const [, , target] of text.matchAll(SPECIFIER)) keep(join(dirname(file), `${target}.d.ts`))
}

function hasFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile())
}
