// Compiles the sources and the tests once into a copy of the tree, for all of the test processes: each of the several
// hundred imports most of the sources, and compiling them in each takes far longer than most tests.
//
// The copy has the same layout, so that paths relative to a module lead to the same things: every file of src/, test/
// and scripts/ with a .js file beside each .ts file, and links to the rest. One script holds all modules of src/, since
// loading five hundred files takes longer than running them, and each module's own file re-exports its part.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const COMPILED = ['src', 'test', 'scripts']
/** Tests that import the library only in processes that they start import this. */
const FOR_PROCESSES = 'test/support/sources.ts'
const ALL_MODULES = 'src/all-modules.js'
const MADE = ['.git', 'build', 'coverage', 'dist']

const SHARED = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  target: 'es2022',
  // Modules stay whole: tests look at them one by one.
  treeShaking: false,
  ignoreAnnotations: true,
  sourcemap: 'linked',
  sourcesContent: false,
  absWorkingDir: root,
  metafile: true,
  write: false,
}

/** The trees in build/, and the build of the package whose exports the modules of src/ have in place of their own. */
const TREES = {
  // One script for all of src/, which is faster.
  source: { folder: 'tests', together: true, library: null },
  // Each file for itself.
  coverage: { folder: 'coverage', together: false, library: null },
  esm: { folder: 'esm', together: true, library: 'dist/esm/index.js' },
  cjs: { folder: 'cjs', together: true, library: 'dist/index.cjs' },
}

/** Compiles one of the trees. Returns its folder, and the files, of those with a library, that make use of it. */
export async function compileTests(name) {
  const { folder: place, together, library } = TREES[name]
  const folder = join(root, 'build', place)
  const tree = new Tree(folder)
  const sources = COMPILED.flatMap((part) => filesIn(join(root, part))).map((path) => relative(root, path))
  const modules = sources.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))

  const alone = await build({
    ...SHARED,
    // Coverage is counted as with tsx, which prints scripts like this.
    ...(together ? {} : { minifyWhitespace: true, keepNames: true, legalComments: 'none' }),
    entryPoints: modules,
    outbase: root,
    outdir: folder,
    plugins: [importCompiled],
  })
  const outputs = new Map(alone.outputFiles.map(({ path, contents }) => [path, contents]))
  copyModules(folder, alone.metafile, outputs)
  const own = library === null ? folder : join(folder, 'own')
  if (together) await putTogether(own, alone.metafile, outputs)
  for (const [path, contents] of outputs) tree.write(path, contents)
  for (const file of sources) tree.write(join(folder, file), readFileSync(join(root, file)))
  for (const name of readdirSync(root)) if (!COMPILED.includes(name) && !MADE.includes(name)) tree.link(name)
  const published = library === null ? new Set() : await publish(folder, own, library, alone.metafile, tree)
  tree.removeOthers()
  return { folder, users: usersOf(published.add(FOR_PROCESSES), alone.metafile) }
}

/** The files that import one of these modules, directly or not. */
function usersOf(modules, { inputs }) {
  const importers = new Map()
  for (const [file, { imports }] of Object.entries(inputs)) {
    for (const { path } of imports) {
      const imported = join(dirname(file), path).replace(/\.js$/, '.ts')
      importers.set(imported, [...(importers.get(imported) ?? []), file])
    }
  }
  const users = new Set(modules)
  // Those that are added meanwhile are visited, too.
  for (const user of users) for (const importer of importers.get(user) ?? []) users.add(importer)
  return users
}

/** The modules of the library, without the command, which is a program. */
function libraryModules({ outputs }) {
  return Object.values(outputs).filter(
    ({ entryPoint }) => entryPoint?.startsWith('src/') && !entryPoint.startsWith('src/cli/'),
  )
}

/** Tests of two copies in one process import these. */
function copyModules(folder, metafile, files) {
  for (const { entryPoint } of libraryModules(metafile)) {
    const path = toScript(entryPoint)
    files.set(join(folder, 'copy', path), files.get(join(folder, path)))
  }
}

/** Replaces the modules of src/ by one script of all, with a file for each that re-exports its part. */
async function putTogether(folder, metafile, files) {
  const modules = libraryModules(metafile)
  // The library's entry first: the modules are evaluated in the order in which users get them.
  modules.sort((a, b) => (b.entryPoint === 'src/index.ts') - (a.entryPoint === 'src/index.ts'))
  const lines = []
  let count = 0
  for (const { entryPoint: module, exports } of modules) {
    const names = exports.map((name) => ({ name, unique: `export${count++}` }))
    lines.push(`export { ${names.map(({ name, unique }) => `${name} as ${unique}`)} } from './${module}'`)
    const path = toScript(module)
    files.set(join(folder, path), partOf(module, names))
    files.delete(join(folder, `${path}.map`))
  }
  const { outputFiles } = await build({
    ...SHARED,
    // Modules have variables with the same name, and classes are shown by theirs.
    keepNames: true,
    stdin: { contents: lines.join('\n'), resolveDir: root, sourcefile: 'all-modules.ts', loader: 'ts' },
    outfile: join(folder, ALL_MODULES),
  })
  for (const { path, contents } of outputFiles) files.set(path, contents)
}

function partOf(module, names) {
  const script = relative(dirname(module), ALL_MODULES)
  const stars = readFileSync(join(root, module), 'utf8').matchAll(/^export \* from '(.*)'$/gm)
  const lines = [
    `export { ${names.map(({ name, unique }) => `${unique} as ${name}`)} } from './${script}'`,
    ...[...stars].map(([, other]) => `export * from '${toScript(other)}'`),
  ]
  return Buffer.from(`${lines.join('\n')}\n`)
}

/**
 * Puts the package under test: what a module of src/ exports comes from there if the package exports it, too, perhaps
 * as a member of `interceptors` and the like.
 */
async function publish(folder, own, library, metafile, tree) {
  const importOwn = (module) => import(pathToFileURL(join(own, toScript(module))).href)
  const paths = publicPaths(await importOwn('src/index.ts'))
  const published = new Set()
  for (const { entryPoint: module } of libraryModules(metafile)) {
    const values = await importOwn(module)
    const lines = [
      `import * as own from '${pathToFileURL(join(own, toScript(module))).href}'`,
      `import ${library.endsWith('.cjs') ? '' : '* as '}ventuno from '${pathToFileURL(join(root, library)).href}'`,
    ]
    for (const [name, value] of Object.entries(values)) {
      const path = paths.get(value)
      if (path !== undefined) published.add(module)
      const code = path === undefined ? `own['${name}']` : `ventuno${path}`
      lines.push(name === 'default' ? `export default ${code}` : `export const ${name} = ${code}`)
    }
    tree.write(join(folder, toScript(module)), Buffer.from(`${lines.join('\n')}\n`))
  }
  const command = pathToFileURL(join(root, 'dist/cli/main.js')).href
  tree.write(join(folder, 'src/cli/main.js'), Buffer.from(`import '${command}'\n`))
  return published
}

/** How to reach what the package exports: by value, the code after the name of its namespace. */
function publicPaths(namespace) {
  const paths = new Map()
  for (const [name, value] of Object.entries(namespace)) {
    if (isIdentified(value)) paths.set(value, `['${name}']`)
    if (value === null || typeof value !== 'object') continue
    for (const [member, inner] of Object.entries(value)) {
      if (isIdentified(inner) && !paths.has(inner)) paths.set(inner, `['${name}']['${member}']`)
    }
  }
  return paths
}

const isIdentified = (value) => typeof value === 'function' || (typeof value === 'object' && value !== null)

/** Modules import each other's compiled files. */
const importCompiled = {
  name: 'import compiled files',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path: toScript(path), external: true },
    )
  },
}

const toScript = (path) => path.replace(/\.ts$/, '.js')

/** The files in a folder, without installed packages. Links are not followed. */
function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return entry.name === 'node_modules' ? [] : filesIn(path)
  })
}

/** A folder with exactly the files that are written to it. A file that would not change is left alone: it may be in use. */
class Tree {
  #folder
  #kept = new Set()

  constructor(folder) {
    this.#folder = folder
  }

  write(path, contents) {
    this.#kept.add(path)
    if (existsSync(path) && readFileSync(path).equals(contents)) return
    mkdirSync(dirname(path), { recursive: true })
    // Other runs may read it while it is written.
    writeFileSync(`${path}.${process.pid}`, contents)
    renameSync(`${path}.${process.pid}`, path)
  }

  link(name) {
    const path = join(this.#folder, name)
    this.#kept.add(path)
    if (!existsSync(path)) symlinkSync(relative(this.#folder, join(root, name)), path)
  }

  removeOthers() {
    for (const path of filesIn(this.#folder)) if (!this.#kept.has(path)) rmSync(path)
  }
}
