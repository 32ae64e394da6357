// The code of the package, after tsc has written its declarations (`npm run build` does both). One file loads
// many times faster than the modules it is made of. The cookie helpers are a file of their own, and the entry
// has no code: so whoever bundles only the helpers gets no client with them, since no file has side effects
// (`sideEffects` in package.json).
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Names stay as they are, and lines short: both are what a stack trace shows. */
const SETTINGS = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: 'none',
  logLevel: 'warning',
}

const COOKIES = external(/cookies\/api\.ts$/, './cookies.js')

const cookieNames = await bundle({ entryPoints: ['src/cookies/api.ts'] }, 'dist/cookies.js')
const surface = await exportsOf('src/index.ts')
const clientNames = surface.filter((name) => name !== 'default' && !cookieNames.includes(name))
const client = `export { ${clientNames.join(', ')} } from './src/index.ts'`
await bundle({ stdin: { contents: client, resolveDir: root }, plugins: [COOKIES] }, 'dist/client.js')
writeFileSync(join(root, 'dist/index.js'), entry())
const library = external(/^\.\.\/index\.ts$/, '../index.js')
// As deep in the package as its source is, since it reads the manifest. Its first line (`#!…`) is kept.
await bundle({ entryPoints: ['src/cli/main.ts'], plugins: [library] }, 'dist/cli/main.js')
chmodSync(join(root, 'dist/cli/main.js'), 0o755)

/** All names, from where they are, and together as the default export. */
function entry() {
  const list = (names) => `{\n  ${names.join(',\n  ')},\n}`
  const all = [...clientNames, ...cookieNames].sort()
  return `import ${list(clientNames)} from './client.js'
import ${list(cookieNames)} from './cookies.js'

export ${list(all)}

export default ${list(all)}
`
}

/** Writes one file; gives the names it exports. */
async function bundle(options, outfile) {
  const { metafile } = await build({ ...SETTINGS, ...options, outfile, metafile: true })
  const file = join(root, outfile)
  const code = withClassNames(readFileSync(file, 'utf8'))
  writeFileSync(file, code)
  console.log(`${outfile}: ${(code.length / 1024).toFixed(0)} KB`)
  return metafile.outputs[outfile].exports
}

async function exportsOf(file) {
  const { metafile } = await build({
    ...SETTINGS,
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
 * esbuild writes `var Client = class _Client` for a class that speaks of itself; then `Client.name` is not
 * what it is in the source. No other name in the source begins with an underscore and a capital letter.
 */
function withClassNames(code) {
  return code.replace(/\b_([A-Z]\w*)/g, (found, name) =>
    code.includes(`${name}=class ${found}`) ? name : found,
  )
}
