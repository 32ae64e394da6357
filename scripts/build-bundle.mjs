// Builds the code of the package after tsc has written its declarations (`npm run build` does both), twice:
//
// - For Node.js, as CommonJS, which `import` and `require` load alike, so that a process has one copy. The modules of
//   `src` are put together in a few chunks (`chunks.mjs`), which load many times faster than separate modules. The entry
//   loads the chunk with what most programs use. Of what the late chunks export it has stand-ins (`src/late.ts`), which
//   load their chunk when they are first used.
// - For bundlers and other runtimes, as ES modules without stand-ins. A bundle has only the chunks that the program
//   needs: no file has side effects (`sideEffects` in package.json).
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Plan } from './chunk-plan.mjs'
import {
  chunksOf,
  fineChunksOf,
  HTTP2,
  membersOf,
  moduleGraph,
  NAMESPACES,
  namesIn,
  OBJECTS,
} from './chunks.mjs'
import { minified } from './minified.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

const SETTINGS = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  logLevel: 'warning',
  outdir: 'dist',
  write: false,
  minifySyntax: true,
}

/** Identifiers stay as they are: the `name` of a function is one of them, and stack traces show it. */
const ES_MODULES = { format: 'esm' }
const COMMON_JS = {
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  // ES modules are strict; scripts need the directive.
  banner: { js: "'use strict';" },
  // For Node.js, a list of the exports would be added, which only an import of the file itself reads.
  platform: 'neutral',
  external: ['node:*', './*.cjs'],
  // The text of an entry imports modules, and exports an object.
  logOverride: { 'commonjs-variable-in-esm': 'silent' },
}

/** What is exported, by the files in `src` that list it. All but the first are entries of the package. */
const PARTS = [
  'core',
  'fetch',
  'mock',
  'cache',
  'cookies',
  'interceptors',
  'proxy',
  'websocket',
  'event-source',
  'http',
]

const DEFAULT = `Object.defineProperty(module.exports, 'default', {
  value: module.exports,
  writable: true,
  configurable: true,
})
`

const graph = await moduleGraph(root)
const parts = new Map(PARTS.map((part) => [part, namesIn(graph, `src/surface-${part}.ts`)]))
const publicNames = new Map([...parts.values()].flatMap((names) => [...names]))
publicNames.set('install', 'src/install.ts')
/** The entries of the package, with the names that each exports. */
const entries = [...parts, ['index', publicNames]]
  .filter(([name]) => name !== 'core')
  .map(([name, exported]) => [name, [...exported.keys()].sort()])

await buildForNode()
await buildForBundlers()
// At the same depth in the package as its source, since it reads the manifest. Its first line (`#!…`) is kept.
await bundle({
  format: 'esm',
  entryPoints: { 'cli/main': 'src/cli/main.ts' },
  splitting: true,
  chunkNames: 'cli/[name]-[hash]',
  plugins: [external(/^\.\.\/index\.ts$/, '../index.js')],
})
chmodSync(join(root, 'dist/cli/main.js'), 0o755)

async function buildForNode() {
  const plan = new Plan(graph, publicNames, chunksOf(graph))
  for (const chunk of plan.chunks) await buildChunk(plan, chunk, COMMON_JS)
  const late = [...publicNames.keys()].filter((name) => plan.isLate(name)).sort()
  await bundleText('late', standInsFor(plan, late), COMMON_JS)
  for (const [name, names] of entries) {
    writeFileSync(join(root, `dist/${name}.cjs`), commonEntry(plan, names))
    writeFileSync(join(root, `dist/${name}.js`), moduleEntry(name, names))
  }
}

async function buildForBundlers() {
  const plan = new Plan(graph, publicNames, fineChunksOf(graph))
  for (const chunk of plan.chunks) await buildChunk(plan, chunk, ES_MODULES)
  for (const [name, names] of entries)
    writeFileSync(join(root, `dist/esm/${name}.js`), bundlersEntry(plan, names))
}

function buildChunk(plan, chunk, settings) {
  const lines = []
  const names = []
  for (const module of chunk.modules) {
    const exported = plan.exportsOf(module) ?? new Map()
    if (exported.size > 0) lines.push(`import { ${aliases(exported)} } from './${module}'`)
    names.push(...exported.values())
  }
  for (const [name, module] of publicNames) {
    if (name in NAMESPACES && plan.chunkOf(module) === chunk && !chunk.isLate) {
      lines.push(
        settings === ES_MODULES
          ? namespaceObject(name, (member, file) => ({ exported: member, file }))
          : `import * as ${name} from './${module}'`,
      )
      names.push(name)
    }
  }
  // As a plain object. As exports, each would be a getter that calls another one.
  lines.push(`${settings.format === 'esm' ? 'export' : 'module.exports ='} { ${names} }`)
  const plugins = [otherChunks(plan, chunk, settings)]
  return bundleText(chunk.name, lines.join('\n'), { ...settings, plugins })
}

/**
 * A namespace as an object, which a bundler leaves out if nobody uses it; the calls that make a real one stay. `placeOf`
 * tells the file that a member is imported from, and its name there.
 */
function namespaceObject(name, placeOf) {
  const members = [...membersOf(graph, name)]
  const imports = members.map(([member, module]) => {
    const { exported, file } = placeOf(member, module)
    return `import { ${exported} as ${name}_${member} } from './${file}'\n`
  })
  const object = members.map(([member]) => `${member}: ${name}_${member}`)
  return `${imports.join('')}const ${name} = { ${object.join(', ')} }\n`
}

/** A chunk from the text of its entry. */
function bundleText(name, contents, settings) {
  const stdin = { contents, resolveDir: root, loader: 'ts' }
  const folder = settings.format === 'esm' ? 'esm' : 'chunks'
  return bundle({ ...settings, stdin, entryNames: `${folder}/${name}` })
}

/** Modules of other chunks come from those: each refers to a module with all that this chunk needs of the other one. */
function otherChunks(plan, chunk, { format }) {
  const isStandIn = (module) => format === 'cjs' && plan.chunkOf(module).isLate && !chunk.isLate
  const fileOf = (module) => (isStandIn(module) ? 'late' : plan.chunkOf(module).name)
  const needed = plan.neededBy(chunk)
  return {
    name: 'other chunks',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ path, resolveDir, namespace }) => {
        if (namespace === 'chunk') return { path, external: true, sideEffects: false }
        const module = relative(root, join(resolveDir, path)).replaceAll('\\', '/')
        return needed.has(module) ? { path: module, namespace: 'module' } : undefined
      })
      onResolve({ filter: /^chunk:/ }, ({ path }) => ({
        path: path.slice('chunk:'.length),
        namespace: 'chunk',
      }))
      onLoad({ filter: /.*/, namespace: 'module' }, ({ path }) => {
        const names = [...needed.get(path)].map(([name, unique]) => `${unique} as ${name}`)
        return { contents: `export { ${names} } from 'chunk:${fileOf(path)}'` }
      })
      onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path }) => {
        const modules = [...needed.keys()].filter((module) => fileOf(module) === path)
        const names = modules.flatMap((module) => [...needed.get(module).values()])
        return {
          contents: format === 'cjs' ? requireText(path, names) : `export { ${names} } from './${path}.js'`,
        }
      })
    },
  }
}

/** In variables of the chunk: a member of what `require` returns would be looked up each time. */
function requireText(file, names) {
  return `const { ${names} } = require('./${file}.cjs')\nexport { ${names} }`
}

/** The text of the module with the stand-ins. */
function standInsFor(plan, names) {
  const lines = ["import { lateExports } from './src/late.ts'"]
  const wanted = names.flatMap((name) =>
    name in NAMESPACES ? [...membersOf(graph, name)] : [[name, publicNames.get(name)]],
  )
  wanted.push(['Http2Connection', HTTP2])
  const variables = new Map()
  for (const chunk of plan.chunks) {
    const places = wanted.map(([name, module]) => plan.place(module, name))
    const exported = places.filter((place) => place.chunk === chunk).map(({ exported }) => exported)
    if (exported.length === 0) continue
    variables.set(chunk, `late${variables.size}`)
    const objects = exported.filter((name) => OBJECTS.includes(name))
    const load = `() => require('./${chunk.name}.cjs'), ${JSON.stringify(objects)}`
    lines.push(`const ${variables.get(chunk)} = lateExports(${JSON.stringify(exported)}, ${load})`)
  }
  const reference = (name, module) => {
    const { chunk, exported } = plan.place(module, name)
    return `${variables.get(chunk)}.${exported}`
  }
  const values = names.map((name) => {
    if (!(name in NAMESPACES)) return `${name}: ${reference(name, publicNames.get(name))}`
    const members = [...membersOf(graph, name)].map(
      ([member, module]) => `${member}: ${reference(member, module)}`,
    )
    return `${name}: { ${members} }`
  })
  values.push(`Http2Connection: ${reference('Http2Connection', HTTP2)}`)
  lines.push(`module.exports = { ${values} }`)
  return lines.join('\n')
}

/**
 * A plain object, so that tests can replace its members. It is marked as a compiled ES module: then `import *` of
 * TypeScript and Babel returns this very object instead of a copy in which a replacement would go unnoticed. The
 * default export is the same object. It is not enumerable, so that a spread copies only the names.
 */
function commonEntry(plan, names) {
  const [late, eager] = [true, false].map((isLate) => names.filter((name) => plan.isLate(name) === isLate))
  const requires = [
    ['main', eager],
    ['late', late],
  ].map(([chunk, some]) =>
    some.length > 0 ? `const ${list(some)} = require('./chunks/${chunk}.cjs')\n` : '',
  )
  return `'use strict'

${requires.join('')}
module.exports = ${list(names)}

Object.defineProperty(module.exports, '__esModule', { value: true })
${isWhole(names) ? DEFAULT : ''}`
}

/** Only the library as a whole has a default export. */
function isWhole(names) {
  return names.length === publicNames.size
}

/** The same for `import`. */
function moduleEntry(file, names) {
  return `import ventuno from './${file}.cjs'

export const ${list(names)} = ventuno
${isWhole(names) ? `\nexport default ${list(names)}\n` : ''}`
}

/** All names, re-exported from their chunks, and together as the default export. */
function bundlersEntry(plan, names) {
  const lines = names.map((name) => {
    if (!(name in NAMESPACES) || plan.chunkOf(NAMESPACES[name]) !== undefined) {
      const { name: chunk } = plan.chunkOf(publicNames.get(name))
      return `import { ${name} } from './${chunk}.js'\n`
    }
    return namespaceObject(name, (member, module) => {
      const { exported, chunk } = plan.place(module, member)
      return { exported, file: `${chunk.name}.js` }
    })
  })
  return `${lines.join('')}
export ${list(names)}
${isWhole(names) ? `\nexport default ${list(names)}\n` : ''}`
}

function list(names) {
  return `{\n  ${names.join(',\n  ')},\n}`
}

function aliases(names) {
  return [...names].map(([name, unique]) => `${name} as ${unique}`)
}

async function bundle(options) {
  const { outputFiles } = await build({ ...SETTINGS, ...options })
  for (const { path, text } of outputFiles) {
    const file = relative(root, path).replaceAll('\\', '/')
    const isModule = options.format === 'esm'
    const code = await minified(text, { isModule, reader: readerOf(file) })
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, code)
    console.log(`${file}: ${(code.length / 1024).toFixed(0)} KB`)
  }
}

function readerOf(file) {
  if (file.startsWith('dist/cli/')) return 'command'
  return file.startsWith('dist/esm/') ? 'bundlers' : 'node'
}

/** Imports that match `filter` are not bundled but imported from another file of the package. */
function external(filter, path) {
  return {
    name: `external ${path}`,
    setup: ({ onResolve }) => onResolve({ filter }, () => ({ path, external: true })),
  }
}
