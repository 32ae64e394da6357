// Which modules of `src` are in which chunk of the build for Node.js. What several late chunks need is in a chunk of its
// own.
import { readdirSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { parse } from 'acorn'
import { build } from 'esbuild'

/** Objects that have the exports of a module. */
export const NAMESPACES = {
  cacheStores: 'src/cache/store/stores.ts',
  errors: 'src/errors.ts',
  interceptors: 'src/interceptors.ts',
  mockErrors: 'src/mock/mock-errors.ts',
  util: 'src/handler/raw-headers.ts',
}

/** Exports that are plain objects. */
export const OBJECTS = ['mockWire', 'http']

/** Those that only list what others export. */
const LISTS = [NAMESPACES.cacheStores, NAMESPACES.interceptors]

export const HTTP2 = 'src/connection/http2/connection.ts'
const INSTALL = 'src/install.ts'

/**
 * For each module of the library: its imports, the names that it takes from each, and the names that it exports.
 * Re-exports of `*` are not named.
 */
export async function moduleGraph(root) {
  const files = readdirSync(join(root, 'src'), { recursive: true })
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts') && !path.startsWith('src/cli/'))
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    entryPoints: files,
    outdir: 'dist',
    metafile: true,
    write: false,
    plugins: [leaveImports],
  })
  const graph = new Map()
  Object.values(metafile.outputs).forEach(({ entryPoint, exports }, index) => {
    const taken = namesTaken(outputFiles[index].text, (path) => posix.join(dirname(entryPoint), path))
    graph.set(entryPoint, { imports: [...taken.keys()], taken, exports })
  })
  return graph
}

/** What the code of a module takes from each of the others; null for everything. */
function namesTaken(code, moduleAt) {
  const taken = new Map()
  for (const { source, specifiers } of parse(code, { ecmaVersion: 'latest', sourceType: 'module' }).body) {
    if (!source?.value.startsWith('.')) continue
    const module = moduleAt(source.value)
    const isWhole = specifiers?.every(({ type }) => /^(Import|Export)Specifier$/.test(type)) !== true
    const names = specifiers?.map(
      ({ type, imported, local }) => (type === 'ImportSpecifier' ? imported : local)?.name,
    )
    taken.set(module, isWhole ? null : [...(taken.get(module) ?? []), ...names])
  }
  return taken
}

const leaveImports = {
  name: 'leave imports',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path, external: true },
    )
  },
}

/** The chunks with their modules. The first has what most programs use; the others are late. */
export function chunksOf(graph) {
  const importsOf = (...files) => files.flatMap((file) => graph.get(file).imports)
  const cache = ['src/cache/interceptor.ts', ...importsOf(NAMESPACES.cacheStores)]
  const interceptors = importsOf('src/surface-interceptors.ts', NAMESPACES.interceptors)
  const late = {
    // Most connections are of HTTP/1.1.
    http2: [HTTP2],
    jar: ['src/cookies/jar/cookie-jar.ts', 'src/cookies/jar/redis-cookie-store.ts'],
    proxy: importsOf('src/surface-proxy.ts'),
    cache,
    interceptors: interceptors.filter((module) => !LISTS.includes(module) && !cache.includes(module)),
    mock: importsOf('src/surface-mock.ts'),
    websocket: importsOf('src/surface-websocket.ts'),
    'event-source': importsOf('src/surface-event-source.ts'),
    http: importsOf('src/surface-http.ts'),
  }
  const usual = [...importsOf('src/surface-core.ts', 'src/surface-fetch.ts'), 'src/cookies/api.ts', INSTALL]
  const main = reach(graph, usual, new Set(Object.values(late).flat()))
  const chunks = { main: [...main] }
  for (const name of [...Object.keys(late), 'shared']) chunks[name] = []
  const reached = Object.entries(late).map(([name, entries]) => [name, reach(graph, entries, main)])
  for (const module of graph.keys()) {
    const users = reached.filter(([, modules]) => modules.has(module)).map(([name]) => name)
    if (users.length === 0) continue
    chunks[chunkFor(module, users)].push(module)
  }
  return Object.entries(chunks).map(([name, modules]) => ({ name, modules, isLate: name !== 'main' }))
}

/**
 * Of a module that these chunks need. HTTP/2 is late, but not rare: nothing that others need comes with it. `http` is made
 * of others, and leaves them where they are.
 */
function chunkFor(module, users) {
  if (users.length > 1 && users.at(-1) === 'http') return chunkFor(module, users.slice(0, -1))
  if (users.length === 1 || (users[0] === 'jar' && module.startsWith('src/cookies/'))) return users[0]
  if (users[0] !== 'http2') return 'shared'
  return /\/(http2|hpack)\//.test(module) ? 'http2' : 'main'
}

/**
 * The chunks of the build for bundlers: modules that the same of these entries need are together, so that a bundle has
 * little that it does not need.
 */
export function fineChunksOf(graph) {
  const importsOf = (part) =>
    graph.get(`src/surface-${part}.ts`).imports.filter((module) => !LISTS.includes(module))
  const alone = [
    'src/cookies/api.ts',
    'src/cookies/jar/cookie-jar.ts',
    'src/cookies/jar/redis-cookie-store.ts',
    'src/cache-storage/cache-storage.ts',
  ]
  const pools = importsOf('core').filter((module) =>
    /(balanced-pool|round-robin-pool|h2c-client)\.ts$/.test(module),
  )
  const parts = ['core', 'fetch', 'mock', 'proxy', 'websocket', 'event-source', 'http'].map(importsOf)
  const separate = new Set([...alone, ...pools])
  const entries = [
    ...alone.map((module) => [module]),
    pools,
    ...parts.map((modules) => modules.filter((module) => !separate.has(module))),
    graph.get(NAMESPACES.cacheStores).imports,
    [...graph.get(NAMESPACES.interceptors).imports, ...importsOf('interceptors')],
    [INSTALL],
  ]
  const reached = entries.map((modules) => reach(graph, modules))
  const chunks = new Map()
  for (const module of graph.keys()) {
    const key = reached.map((modules) => (modules.has(module) ? 1 : 0)).join('')
    if (key.includes('1')) chunks.set(key, [...(chunks.get(key) ?? []), module])
  }
  return [...chunks.values()].map((modules, index) => ({ name: `chunk${index}`, modules, isLate: false }))
}

/** The modules that these need, with themselves; without `except` and what only those need. */
function reach(graph, entries, except = new Set()) {
  const reached = new Set(entries)
  // Those that are added meanwhile are visited, too.
  for (const module of reached) {
    for (const imported of graph.get(module).imports) if (!except.has(imported)) reached.add(imported)
  }
  return reached
}

/** Each name that a module exports, and the module that it is from. */
export function namesIn(graph, file) {
  const { imports, exports } = graph.get(file)
  const origin = (name) => imports.find((module) => graph.get(module).exports.includes(name)) ?? file
  return new Map(exports.map((name) => [name, NAMESPACES[name] ?? origin(name)]))
}

/** The members of a namespace, and the module that each is from. */
export function membersOf(graph, name) {
  return namesIn(graph, NAMESPACES[name])
}
