// Runs the tests with other runtimes than the current one. Each is installed from the package registry into a temporary
// folder, which is removed afterwards. Other versions of Node run the whole suite; Bun and Deno run the API suite
// (`test/index.test.ts`, `test/api`, `test/suite`) except for the tests in `test/runtimes/exceptions.ts`. All of them run
// the smoke test with the package as published. Prints one line per runtime, followed by its failures.
//
// With arguments: runs only the test files whose path contains one of them; `smoke` is the smoke test. `--required` fails
// if a runtime cannot be installed, instead of skipping it.
// VENTUNO_RUNTIMES=24,bun selects runtimes; VENTUNO_EXCEPTIONS=run runs the excepted tests, too.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isOfApiSuite, runApiSuite } from './runtimes/api-suite.mjs'
import { install } from './runtimes/install.mjs'
import { preparePackage, runSmoke } from './runtimes/smoke.mjs'
import { nodeTests, root, testFiles } from './test-files.mjs'

const RUNTIMES = (process.env.VENTUNO_RUNTIMES ?? '20.19,22,24,26,bun,deno').split(',')

/** Milliseconds for all of them: a file whose test was given up keeps running if something is still open in it. */
const PATIENCE_IN_ALL = 3_600_000

const words = process.argv.slice(2)
const required = words.includes('--required')
const wanted = words.filter((word) => word !== '--required')
const files = testFiles(wanted)
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
    if (!(await checkFiles(runtime))) failed = true
    if (app !== null && !(await checkSmoke(runtime, app))) failed = true
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
const skipped = RUNTIMES.length - tried
if (skipped > 0) console.log(`${skipped} of ${RUNTIMES.length} runtimes were skipped`)
process.exit(failed || tried === 0 || (required && skipped > 0) ? 1 : 0)

async function checkFiles(runtime) {
  const mine = runtime.kind === 'node' ? files : files.filter(isOfApiSuite)
  if (mine.length === 0) return true
  const start = Date.now()
  const result =
    runtime.kind === 'node' ? await runWithNode(runtime, mine) : runApiSuite(runtime, mine, places)
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

async function runWithNode({ path }, mine) {
  const { flags, scripts, env } = await nodeTests(mine)
  const run = spawnSync(path, [...flags, ...scripts], {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    timeout: PATIENCE_IN_ALL,
  })
  const count = (name) => Number(new RegExp(`^\\S+ ${name} (\\d+)$`, 'm').exec(run.stdout)?.[1] ?? 0)
  const wrong = count('fail') + count('cancelled') || (run.status === 0 ? 0 : 1)
  return {
    passed: count('pass'),
    failed: wrong,
    skipped: count('skipped'),
    failures: wrong === 0 ? [] : [report(run)],
    exceptions: new Map(),
  }
}

/** The failed tests with their errors, which the reporter repeats at the end, or else all output. */
function report({ stdout, stderr, error }) {
  const start = stdout.search(/^\S+ failing tests:$/m)
  return start === -1 ? `${error ?? ''}${stdout}${stderr}` : stdout.slice(start)
}
