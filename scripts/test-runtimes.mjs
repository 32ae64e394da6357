// Runs the tests with other runtimes than the current one. Each is installed from the package registry into a temporary
// folder, which is removed afterwards. Other versions of Node run the whole suite; Bun and Deno run the API suite
// (`test/index.test.ts`, `test/api`, `test/suite`) except for the tests in `test/runtimes/exceptions.ts`. All of them run
// the smoke test with the package as published. Prints one line per runtime, followed by its failures.
//
// With arguments: runs only the test files whose path contains one of them; `smoke` is the smoke test.
// VENTUNO_RUNTIMES=24,bun selects runtimes; VENTUNO_EXCEPTIONS=run runs the excepted tests, too.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isOfApiSuite, runApiSuite } from './runtimes/api-suite.mjs'
import { install } from './runtimes/install.mjs'
import { preparePackage, runSmoke } from './runtimes/smoke.mjs'

const RUNTIMES = (process.env.VENTUNO_RUNTIMES ?? '22,24,26,bun,deno').split(',')

/** Milliseconds for one test file, so that a file that hangs in only one runtime is reported by name. */
const PATIENCE = 600_000

/** Maximum number of lines in the report of one failure. */
const MAX_LINES = 40

const root = fileURLToPath(new URL('..', import.meta.url))
const wanted = process.argv.slice(2)
const files = readdirSync(join(root, 'test'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  // Packages that other tests install contain tests, too.
  .filter((file) => !file.includes('node_modules'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort()
const hasSmoke = wanted.length === 0 || wanted.includes('smoke')
if (files.length === 0 && !hasSmoke) {
  console.error('no test file matches')
  process.exit(1)
}

const home = realpathSync(mkdtempSync(join(tmpdir(), 'runtimes-')))
const places = { root, home }
let tried = 0
let failed = false
try {
  const app = hasSmoke ? preparePackage(places) : null
  for (const name of RUNTIMES) {
    const runtime = install(name, home)
    if (typeof runtime === 'string') {
      console.log(`skipped ${name}: ${runtime}`)
      continue
    }
    tried++
    if (!checkFiles(runtime)) failed = true
    if (app !== null && !(await checkSmoke(runtime, app))) failed = true
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
if (tried < RUNTIMES.length)
  console.log(`${RUNTIMES.length - tried} of ${RUNTIMES.length} runtimes were skipped`)
process.exit(failed || tried === 0 ? 1 : 0)

function checkFiles(runtime) {
  const mine = runtime.kind === 'node' ? files : files.filter(isOfApiSuite)
  if (mine.length === 0) return true
  const start = Date.now()
  const result = runtime.kind === 'node' ? runWithNode(runtime, mine) : runApiSuite(runtime, mine, places)
  const seconds = Math.round((Date.now() - start) / 1000)
  const excepted = [...result.exceptions.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    `${result.failed === 0 ? 'ok    ' : 'FAILED'} ${runtime.title}: ${result.passed} passed, ${result.failed} failed, ` +
      `${result.skipped} skipped, ${excepted} excepted, ${mine.length} files, ${seconds} s`,
  )
  for (const [fault, count] of result.exceptions) console.log(`       ${count} × ${fault}`)
  for (const failure of result.failures) console.log(failure)
  return result.failed === 0
}

async function checkSmoke(runtime, app) {
  const { ok, passed, total, output } = await runSmoke(runtime, app, places)
  console.log(
    `${ok ? 'ok    ' : 'FAILED'} ${runtime.title}: ${passed} of ${total} checks of the smoke test passed`,
  )
  if (!ok) console.log(output.replace(/^ok .*\n/gm, ''))
  return ok
}

function runWithNode({ path }, mine) {
  const flags = ['--import', 'tsx', '--test', '--test-reporter=tap', `--test-timeout=${PATIENCE}`]
  const run = spawnSync(path, [...flags, ...mine], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 30 })
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(run.stdout)?.[1] ?? 0)
  const unfinished = run.status === 0 ? 0 : count('cancelled')
  const wrong = count('fail') + unfinished || (run.status === 0 ? 0 : 1)
  return {
    passed: count('pass'),
    failed: wrong,
    skipped: count('skipped'),
    failures: wrong === 0 ? [] : report(run),
    exceptions: new Map(),
  }
}

/** The failed tests, each with enough of its error to identify it. */
function report({ stdout, stderr }) {
  const lines = stdout.split('\n')
  const blocks = lines.flatMap((line, index) => {
    if (!/^\s*not ok /.test(line)) return []
    const end = lines.indexOf(`${/^\s*/.exec(line)[0]}  ...`, index)
    return lines.slice(index, Math.min(end + 1 || index + 1, index + MAX_LINES))
  })
  return blocks.length > 0 ? blocks : [...lines.slice(-MAX_LINES), stderr]
}
