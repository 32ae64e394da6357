// Runs after tsc: keeps the declarations that dist/index.d.ts refers to. There is one set, of the CommonJS kind, which
// both kinds of modules may import, so that an imported `Client` has the same type as a required one. Only the entry
// exists twice. The files refer to each other as `.cjs`, which every version of TypeScript finds with any settings.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
const SPECIFIER = /(\bfrom |\bimport\()'(\.[^']+)\.ts'/g
/** By this name, since the result of a default import depends on the kinds of both modules. */
const DEFAULT_EXPORT = 'ventuno'

const kept = new Set()
keep(join(dist, 'index.d.ts'))
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (entry.isFile() && entry.name.endsWith('.d.ts')) rmSync(join(entry.parentPath, entry.name))
}
for (const entry of readdirSync(dist, { withFileTypes: true })) {
  const folder = join(dist, entry.name)
  if (entry.isDirectory() && !hasFiles(folder)) rmSync(folder, { recursive: true })
}
writeFileSync(
  join(dist, 'index.d.ts'),
  `export * from './index.cjs';\nexport { ${DEFAULT_EXPORT} as default } from './${DEFAULT_EXPORT}.cjs';\n`,
)
// Tools that compare the declarations with the code do not look through `export *`.
const entry = join(dist, 'index.d.cts')
const names = readFileSync(join(dist, 'surface.d.cts'), 'utf8')
writeFileSync(
  entry,
  readFileSync(entry, 'utf8').replace("export * from './surface.cjs';\n", () => names),
)
console.log(`declarations: ${kept.size + 1} files`)

function keep(file) {
  if (kept.has(file)) return
  kept.add(file)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file.replace(/\.d\.ts$/, '.d.cts'), text.replace(SPECIFIER, "$1'$2.cjs'"))
  for (const [, , target] of text.matchAll(SPECIFIER)) keep(join(dirname(file), `${target}.d.ts`))
}

function hasFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile())
}
