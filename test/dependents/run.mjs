// Runs programs that use packages which depend on undici, first with undici and then with this library in its place,
// and prints how many of their checks pass. Fails if a check passes with undici only.
//
//   --only name   the programs whose name contains this text; may be repeated
//   --short       the programs that CI runs
//   --required    fail, instead of skipping all, if the packages cannot be installed
//   --write       put the table into docs/guides/ecosystem.md
import { fork } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installPackages, useLibrary } from './packages.mjs'
import { lost, printRow, writeTable } from './table.mjs'

/** One of each kind: a parser, SDKs, the guide, a cookie jar, a tracer, a gateway. */
const SHORT = [
  'cheerio',
  'elastic-transport',
  'guides',
  'http-cookie-agent',
  'openai',
  'opentelemetry',
  'reply-from',
]

const [major, minor] = process.versions.node.split('.').map(Number)
/** undici 8 and the newest versions of some packages need Node 22.22. */
const NEWEST = major > 22 || (major === 22 && minor >= 22)

/** Milliseconds for one program. */
const PATIENCE = 180_000

const folder = fileURLToPath(new URL('.', import.meta.url))
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    short: { type: 'boolean', default: false },
    required: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const names = readdirSync(join(folder, 'programs'))
  .map((file) => file.replace(/\.mjs$/, ''))
  .filter((name) => !options.short || SHORT.includes(name))
  .filter((name) => options.only?.some((part) => name.includes(part)) ?? true)
if (names.length === 0) {
  console.error('no program matches')
  process.exit(1)
}

const missing = installPackages(folder)
if (missing !== null) {
  console.log(`skipped, all ${names.length} programs (${names.join(', ')}): ${missing}`)
  process.exit(options.required ? 1 : 0)
}
process.exit((await compare()) ? 0 : 1)

async function compare() {
  const start = Date.now()
  const rows = []
  for (const name of names) rows.push({ name, undici: await run(name, 'undici') })
  const giveBack = useLibrary(folder)
  try {
    for (const row of rows) {
      if (row.undici.skipped === undefined) row.ventuno = await run(row.name, 'ventuno')
      printRow(row)
    }
  } finally {
    giveBack()
  }
  const worse = rows.flatMap(lost).length
  const seconds = Math.round((Date.now() - start) / 1000)
  console.log(`\n${rows.length} programs, ${seconds} s; checks that pass with undici only: ${worse}`)
  if (options.write) writeTable(join(folder, '../../docs/guides/ecosystem.md'), rows)
  return worse === 0
}

/** What a program reports, with each check and its error. */
function run(name, column) {
  // The newest packages that this Node can run, and the newest undici where the program and not its package chooses.
  const conditions = NEWEST ? ['--conditions=newest'] : []
  const child = fork(join(folder, 'child.mjs'), [name, column], {
    cwd: folder,
    execArgv: [...conditions, '--no-warnings'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, NO_PROXY: '', no_proxy: '', NODE_ENV: 'production' },
  })
  const report = { package: name, version: '', about: '', library: '', checks: new Map() }
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-2_000)
  })
  child.on('message', ({ check, error, ...rest }) => {
    if (check === undefined) Object.assign(report, rest)
    else report.checks.set(check, error)
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer)
      if (report.end !== true) report.broken ??= `the process ended with ${code}\n${stderr}`
      if (report.broken !== undefined && column === 'undici') report.checks.set('loads', report.broken)
      resolve(report)
    })
  })
}
