// Which file may import which under src/. Each rule names its files and the places they may import from besides their
// own folder; the first rule that matches a file counts. Imports of types count like all others: a file cannot be
// understood without the types it uses. From the places in `types` a file may import nothing but types.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROTOCOL_LEAVES = [
  'protocol/ascii.ts',
  'protocol/failure.ts',
  'protocol/carried-bytes.ts',
  'base/bytes/empty.ts',
  'base/error/invariant.ts',
  'base/collection/',
]
const FIELDS = [
  'protocol/header-block.ts',
  'protocol/header-list.ts',
  'protocol/header-names.ts',
  'protocol/trailer-names.ts',
]
/** Options as tables, and the names that nobody knows. */
const OPTIONS = ['options.ts', 'option-names.ts', 'option-advice.ts']
/** What a feature needs that is built on `dispatch` and handlers alone. */
const ON_DISPATCH = [
  'dispatcher/',
  'relay/',
  'handler/',
  'request/',
  'guard/',
  'base/',
  'errors.ts',
  ...OPTIONS,
  'diagnostics.ts',
  'protocol/ascii.ts',
  ...FIELDS,
]

const RULES = [
  {
    files: /^cli\//,
    may: [
      'index.ts',
      'base/address/basic-credentials.ts',
      'base/node/whole-file.ts',
      'base/text/secret-names.ts',
    ],
  },
  { files: /^(index|surface(-[a-z-]+)?|interceptors|ventuno)\.ts$/, may: [''] },
  { files: /^install\.ts$/, may: ['fetch/', 'websocket/', 'event-source/', 'web/'] },
  { files: /^late\.ts$/, may: ['base/error/public-call.ts'] },
  { files: /^errors\.ts$/, may: ['base/object/kind.ts'] },
  { files: /^options\.ts$/, may: ['errors.ts', 'option-names.ts', 'base/object/own-options.ts'] },
  { files: /^option-names\.ts$/, may: ['option-advice.ts', 'base/error/'] },
  { files: /^option-advice\.ts$/, may: [] },
  { files: /^diagnostics\.ts$/, may: [] },
  {
    files: /^debug\.ts$/,
    may: ['base/node/debug-flags.ts', 'base/error/message-of.ts', 'base/text/one-line.ts'],
  },
  { files: /^diagnostics-messages\.ts$/, may: ['net/', 'request/', 'dispatcher/connection-snapshot.ts'] },
  { files: /^base\//, may: ['base/'] },
  {
    files: /^protocol\/(ascii|carried-bytes|failure)\.ts$/,
    may: ['base/bytes/empty.ts'],
    alone: true,
  },
  {
    files: /^protocol\/(head|header|trailer)-[a-z]+\.ts$/,
    may: [...PROTOCOL_LEAVES, ...FIELDS],
    alone: true,
  },
  { files: /^protocol\/hpack\//, may: PROTOCOL_LEAVES },
  { files: /^protocol\/http1\//, may: [...PROTOCOL_LEAVES, ...FIELDS, 'protocol/head-memory.ts'] },
  {
    files: /^protocol\/http2\//,
    may: [...PROTOCOL_LEAVES, ...FIELDS, 'protocol/head-memory.ts', 'protocol/hpack/'],
  },
  { files: /^protocol\/websocket\//, may: [...PROTOCOL_LEAVES, ...FIELDS] },
  { files: /^guard\//, may: ['base/', 'errors.ts', 'options.ts'] },
  { files: /^net\//, may: ['guard/', 'base/', 'errors.ts', ...OPTIONS] },
  {
    files: /^request\//,
    may: ['base/', 'errors.ts', 'options.ts', 'diagnostics.ts', 'protocol/ascii.ts', ...FIELDS],
  },
  {
    files: /^connection\//,
    may: ['connection/', 'protocol/', 'net/', 'request/', 'base/', 'errors.ts', 'diagnostics.ts'],
  },
  { files: /^body\//, may: ['relay/discarded-body.ts', 'base/', 'errors.ts', ...FIELDS] },
  { files: /^handler\//, may: ['request/', 'base/', 'errors.ts', ...FIELDS] },
  {
    files: /^api\//,
    may: [
      ...['body/', 'relay/', 'handler/', 'request/', 'base/', 'errors.ts'],
      ...['option-names.ts', 'option-advice.ts'],
      ...FIELDS,
    ],
  },
  {
    files: /^relay\//,
    may: ['handler/', 'request/', 'base/', 'errors.ts', 'protocol/ascii.ts', ...FIELDS],
  },
  { files: /^web\//, may: ['base/'] },
  { files: /^redis\//, may: ['base/', 'errors.ts', 'options.ts'] },
  { files: /^cookies\//, may: ['cookies/', 'redis/', 'web/', 'base/', 'errors.ts', 'options.ts'] },
  { files: /^protocol\/(socks5|event-stream)\//, may: PROTOCOL_LEAVES },
  { files: /^content-coding\//, may: ['base/', 'errors.ts', 'protocol/ascii.ts', ...FIELDS] },
  { files: /^interceptor\//, may: [...ON_DISPATCH, 'interceptor/', 'content-coding/', 'cookies/', 'redis/'] },
  { files: /^cache\//, may: [...ON_DISPATCH, 'cache/', 'content-coding/', 'redis/'] },
  { files: /^cache-storage\//, may: ['fetch/', 'web/', 'base/', 'errors.ts', ...FIELDS] },
  {
    files: /^proxy\//,
    may: [...ON_DISPATCH, 'proxy/', 'api/', 'net/', 'protocol/socks5/'],
  },
  {
    files: /^mock\//,
    may: [
      ...ON_DISPATCH,
      'connection/ends.ts',
      'connection/exchange.ts',
      'global/',
      'mock/',
      'content-coding/',
      'net/',
      'protocol/',
    ],
  },
  {
    files: /^event-source\//,
    may: [...ON_DISPATCH, 'global/', 'fetch/', 'web/', 'protocol/event-stream/'],
  },
  {
    files: /^http\//,
    may: [
      ...ON_DISPATCH,
      'interceptor/',
      'cache/',
      'global/global-dispatcher.ts',
      'api/api-handler.ts',
      'body/',
    ],
  },
  {
    files: /^fetch\//,
    may: [
      'content-coding/',
      'web/',
      'global/global-dispatcher.ts',
      'fetch/',
      'body/',
      'relay/',
      'handler/older-calls.ts',
      'request/',
      'protocol/ascii.ts',
      'base/',
      'errors.ts',
      'option-names.ts',
      'option-advice.ts',
      ...FIELDS,
    ],
    types: ['dispatcher/dispatcher.ts'],
  },
  {
    files: /^websocket\//,
    may: [
      'global/',
      'dispatcher/',
      'api/',
      'relay/',
      'handler/older-calls.ts',
      'request/',
      'web/',
      'fetch/headers/',
      'protocol/websocket/',
      'protocol/ascii.ts',
      'base/',
      'errors.ts',
      'debug.ts',
      ...FIELDS,
    ],
  },
  { files: /^global\//, may: ['proxy/', 'dispatcher/', 'api/', 'request/', 'base/', 'errors.ts'] },
  {
    files: /^dispatcher\//,
    may: [
      'dispatcher/',
      'connection/',
      'net/',
      'request/',
      'api/',
      'handler/',
      'base/',
      'errors.ts',
      ...OPTIONS,
      'diagnostics.ts',
      'debug.ts',
      ...FIELDS,
    ],
    types: ['body/readable.ts'],
  },
]

/** Modules of the runtime that a folder must not touch; `values` allows `import type`. */
const FORBIDDEN = [
  { files: /^protocol\//, modules: /^node:(?!buffer$)/, why: 'the engines do no I/O' },
  {
    files: /^(?!net\/|base\/|cli\/|interceptor\/dns)/,
    modules: /^node:(dns|tls)$/,
    values: true,
    why: 'connections are opened in net/',
  },
  {
    files: /./,
    modules: /^node:http2?$/,
    why: 'HTTP is spoken by our own engines',
  },
]

/** What a file must not contain. */
const UNWANTED = [
  {
    files: /^(relay|interceptor|cache)\//,
    text: /^(?:export )?(?:const|let) .*\bnew Weak(?:Map|Set|Ref)\b/m,
    why: 'what is known about a request or a response goes with it, or belongs to an instance',
  },
  {
    files: /^(?!relay\/error-facts)(relay|interceptor|cache)\//,
    // Read as a member, or taken out of an object.
    text: /\.code\b(?!\s*=[^=])|[{,]\s*code\s*(?:,[^{}]*)?\}\s*(?:=(?!>)|:)/,
    why: 'relay/error-facts.ts says what the code of an error means',
  },
  {
    files: /^(relay|interceptor|cache|proxy)\//,
    // Several in a row have one comment.
    text: /(?<!\*\/|\/\/[^\n]*|[:=] (?:boolean|true|false))\n {2}(?:(?:override|protected|private) )*#?\w+(?:: boolean)? = (?:true|false)$/m,
    why: 'the life of a request is one union; a comment says why a boolean stands beside it',
  },
]

const src = fileURLToPath(new URL('../src/', import.meta.url))
/** Loaders of base/node/lazy-modules.ts, which stand for the modules that they load. */
const LOADED = {
  loadCrypto: 'node:crypto',
  loadDns: 'node:dns',
  loadFs: 'node:fs',
  loadNet: 'node:net',
  loadSqlite: 'node:sqlite',
  loadTls: 'node:tls',
  loadUtil: 'node:util',
  loadWebStreams: 'node:stream/web',
  loadZlib: 'node:zlib',
}
const IMPORT =
  /^(?:import|export)\s+(type\s+)?(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm

const complaints = []
const graph = new Map()

for (const entry of readdirSync(src, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith('.ts')) continue
  const file = relative(src, join(entry.parentPath, entry.name)).replaceAll('\\', '/')
  check(file, readFileSync(join(src, file), 'utf8'))
}
findCycles()

if (complaints.length > 0) {
  console.error(complaints.join('\n'))
  process.exit(1)
}
console.log(`layers: ${graph.size} files keep the rules`)

function check(file, text) {
  const rule = RULES.find(({ files }) => files.test(file))
  if (rule === undefined) {
    complaints.push(`${file}: no layer rule is for it`)
    return
  }
  for (const { files, text: unwanted, why } of UNWANTED) {
    const found = files.test(file) ? unwanted.exec(text) : null
    if (found !== null) complaints.push(`${file}: must not have \`${found[0]}\` (${why})`)
  }
  const imports = new Set()
  graph.set(file, imports)
  for (const match of text.matchAll(IMPORT)) {
    const [, isType, from, inType] = match
    const target = from ?? inType
    const isOfTypes = isType !== undefined || inType !== undefined
    if (!target.startsWith('.')) {
      checkModule(file, target, isOfTypes)
      continue
    }
    const path = posix.join(dirname(file), target)
    if (path === 'base/node/lazy-modules.ts') checkLoaders(file, match[0])
    imports.add(path)
    const own = !rule.alone && dirname(path) === dirname(file)
    const isAllowed =
      rule.may.some((part) => path.startsWith(part)) || (isOfTypes && rule.types?.includes(path))
    if (!own && !isAllowed) {
      complaints.push(`${file}: must not import ${path}`)
    }
  }
}

function checkLoaders(file, statement) {
  for (const [name] of statement.matchAll(/\bload\w+/g)) {
    if (LOADED[name] === undefined) complaints.push(`${file}: ${name} loads an unknown module`)
    else checkModule(file, LOADED[name], false)
  }
}

function checkModule(file, module, isType) {
  for (const { files, modules, values, why } of FORBIDDEN) {
    if (files.test(file) && modules.test(module) && !(values && isType)) {
      complaints.push(`${file}: must not import ${module} (${why})`)
    }
  }
}

function findCycles() {
  const state = new Map()
  const visit = (file, path) => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      complaints.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
      return
    }
    state.set(file, 'open')
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    state.set(file, 'done')
  }
  for (const file of graph.keys()) visit(file, [])
}
