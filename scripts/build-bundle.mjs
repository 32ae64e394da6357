// Builds the code of the package after tsc has written its declarations (`npm run build` does both), once as ES
// modules for `import` and once as CommonJS for `require`. One file loads many times faster than its separate
// modules. The cookie helpers are a separate file, and the entry has no code: no file has side effects (`sideEffects`
// in package.json), so a bundle that uses only the helpers does not contain a client.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { esbuildMarks } from './esbuild-marks.mjs'
import { deleteFrom } from './source-map.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Keeps names unchanged and lines short: a stack trace shows both. */
const SETTINGS = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: 'none',
  logLevel: 'warning',
}

const ES_MODULE = { format: 'esm' }
/** ES modules are strict; scripts need the directive. */
const COMMON_JS = { format: 'cjs', banner: { js: "'use strict';" } }

const cookieNames = await exportsOf('src/cookies/api.ts')
const surface = await exportsOf('src/index.ts')
const clientNames = surface.filter((name) => name !== 'default' && !cookieNames.includes(name))
const allNames = [...clientNames, ...cookieNames].sort()
const client = `export { ${clientNames.join(', ')} } from './src/surface.ts'`

for (const [kind, extension, entry] of [
  [ES_MODULE, 'js', moduleEntry],
  [COMMON_JS, 'cjs', commonEntry],
]) {
  const cookies = external(/cookies\/api\.ts$/, `./cookies.${extension}`)
  await bundle({ ...kind, entryPoints: ['src/cookies/api.ts'] }, `dist/cookies.${extension}`)
  // For the source map, it is the entry.
  const stdin = { contents: client, resolveDir: root, sourcefile: 'src/index.ts' }
  await bundle({ ...kind, stdin, plugins: [cookies] }, `dist/client.${extension}`)
  writeFileSync(join(root, `dist/index.${extension}`), entry())
}

const library = external(/^\.\.\/index\.ts$/, '../index.js')
// At the same depth in the package as its source, since it reads the manifest. Its first line (`#!…`) is kept.
await bundle({ ...ES_MODULE, entryPoints: ['src/cli/main.ts'], plugins: [library] }, 'dist/cli/main.js')
chmodSync(join(root, 'dist/cli/main.js'), 0o755)

/** All names, re-exported from their files, and together as the default export. */
function moduleEntry() {
  return `import ${list(clientNames)} from './client.js'
import ${list(cookieNames)} from './cookies.js'

export ${list(allNames)}

export default ${list(allNames)}
`
}

/**
 * A plain object, so that tests can replace its members. It is marked as a compiled ES module: then `import *` of
 * TypeScript and Babel returns this very object instead of a copy in which a replacement would go unnoticed. The
 * default export is the same object. It is not enumerable, so that a spread copies only the names.
 */
function commonEntry() {
  return `'use strict'

const ${list(clientNames)} = require('./client.cjs')
const ${list(cookieNames)} = require('./cookies.cjs')

module.exports = ${list(allNames)}

Object.defineProperty(module.exports, '__esModule', { value: true })
Object.defineProperty(module.exports, 'default', {
  value: module.exports,
  writable: true,
  configurable: true,
})
`
}

function list(names) {
  return `{\n  ${names.join(',\n  ')},\n}`
}

/** The code, and its map, which names the files of `src`: the package has them once, for all maps. */
async function bundle(options, outfile) {
  const sourcemap = { sourcemap: 'linked', sourcesContent: false }
  const { outputFiles } = await build({ ...SETTINGS, ...options, ...sourcemap, outfile, write: false })
  const [mapFile, codeFile] = outputFiles
  const { code, map } = deleteFrom(codeFile.text, JSON.parse(mapFile.text), esbuildMarks(codeFile.text))
  mkdirSync(dirname(codeFile.path), { recursive: true })
  writeFileSync(codeFile.path, code)
  writeFileSync(mapFile.path, JSON.stringify(map))
  console.log(`${outfile}: ${(code.length / 1024).toFixed(0)} KB`)
}

async function exportsOf(file) {
  const { metafile } = await build({
    ...SETTINGS,
    ...ES_MODULE,
    entryPoints: [file],
    outfile: 'dist/index.js',
    write: false,
    metafile: true,
  })
  return metafile.outputs['dist/index.js'].exports
}

/** Imports that match `filter` are not bundled but imported from another file of the package. */
function external(filter, path) {
  return {
    name: `external ${path}`,
    setup: ({ onResolve }) => onResolve({ filter }, () => ({ path, external: true })),
  }
}
