// The code of the package, after tsc has written its declarations (`npm run build` does both), once as ES modules
// for `import` and once as CommonJS for `require`. One file loads many times faster than the modules it is made
// of. The cookie helpers are a file of their own, and the entry has no code: so whoever bundles only the helpers
// gets no client with them, since no file has side effects (`sideEffects` in package.json).
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Names stay as they are, and lines short: both are what a stack trace shows. */
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
/** What the language gives to modules must be said to scripts. */
const COMMON_JS = { format: 'cjs', banner: { js: "'use strict';" } }

const cookieNames = await exportsOf('src/cookies/api.ts')
const surface = await exportsOf('src/index.ts')
const clientNames = surface.filter((name) => name !== 'default' && !cookieNames.includes(name))
const allNames = [...clientNames, ...cookieNames].sort()
const client = `export { ${clientNames.join(', ')} } from './src/index.ts'`

for (const [kind, extension, entry] of [
  [ES_MODULE, 'js', moduleEntry],
  [COMMON_JS, 'cjs', commonEntry],
]) {
  const cookies = external(/cookies\/api\.ts$/, `./cookies.${extension}`)
  await bundle({ ...kind, entryPoints: ['src/cookies/api.ts'] }, `dist/cookies.${extension}`)
  const stdin = { contents: client, resolveDir: root }
  await bundle({ ...kind, stdin, plugins: [cookies] }, `dist/client.${extension}`)
  writeFileSync(join(root, `dist/index.${extension}`), entry())
}

const library = external(/^\.\.\/index\.ts$/, '../index.js')
// As deep in the package as its source is, since it reads the manifest. Its first line (`#!…`) is kept.
await bundle({ ...ES_MODULE, entryPoints: ['src/cli/main.ts'], plugins: [library] }, 'dist/cli/main.js')
chmodSync(join(root, 'dist/cli/main.js'), 0o755)

/** All names, from where they are, and together as the default export. */
function moduleEntry() {
  return `import ${list(clientNames)} from './client.js'
import ${list(cookieNames)} from './cookies.js'

export ${list(allNames)}

export default ${list(allNames)}
`
}

/**
 * A plain object, so that tests can replace what is in it. It passes for a compiled ES module: then `import *` of
 * TypeScript and Babel gives this very object, and not a copy in which a replacement would go unnoticed. The
 * default export is the object as well, and not enumerable, so that a spread of it takes only the names along.
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

async function bundle(options, outfile) {
  await build({ ...SETTINGS, ...options, outfile })
  const file = join(root, outfile)
  const code = withClassNames(withWholeStrings(readFileSync(file, 'utf8')))
  writeFileSync(file, code)
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

/** What is imported as `filter` says is not bundled but imported from another file of the package. */
function external(filter, path) {
  return {
    name: `external ${path}`,
    setup: ({ onResolve }) => onResolve({ filter }, () => ({ path, external: true })),
  }
}

/**
 * esbuild breaks lines within strings, too, with a backslash at the end. A bundler that indents what it wraps, as
 * Rollup does, would then put its tabs into the string.
 */
function withWholeStrings(code) {
  return code.replace(/(?<!\\)((?:\\\\)*)\\\n/g, '$1')
}

/**
 * esbuild writes `var Client = class _Client` for a class that speaks of itself; then `Client.name` is not
 * what it is in the source. Where another class has the name it writes `Client2 = class _Client`. No other name
 * in the source begins with an underscore and a capital letter.
 */
function withClassNames(code) {
  const named = new Set([...code.matchAll(/\b([A-Z]\w*?)\d*=class _\1\b/g)].map(([, name]) => name))
  return code.replace(/\b_([A-Z]\w*)/g, (found, name) => (named.has(name) ? name : found))
}
