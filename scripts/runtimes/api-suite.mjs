// The API suite with a runtime other than Node. Its tests are written for `node:test`, which `test/runtimes/runner.ts`
// replaces: each file runs in a process of its own and prints a line of JSON for each test.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { environment } from './install.mjs'

/** Milliseconds for one file. */
const PATIENCE = 300_000

/** The files that make the API suite. */
export const isOfApiSuite = (file) => /^test[/\\](index\.test\.ts|api[/\\]|suite[/\\])/.test(file)

/** The arguments with which a runtime runs a test file. */
function argumentsFor(kind, root, file) {
  const support = join(root, 'test', 'runtimes')
  if (kind === 'bun') return ['--no-install', '--preload', join(support, 'bun-preload.mjs'), file]
  const flags = ['--allow-all', '--no-check', '--no-lock', '--node-modules-dir=manual', '--quiet']
  return ['run', ...flags, '--import-map', join(support, 'deno-imports.json'), file]
}

/**
 * Runs the files one after the other.
 *
 * @returns the numbers of tests by outcome, the failures as text, and the number of tests left out by fault
 */
export function runApiSuite({ kind, path }, files, { root, home }) {
  const result = { passed: 0, failed: 0, skipped: 0, failures: [], exceptions: new Map() }
  for (const file of files) {
    const run = spawnSync(path, argumentsFor(kind, root, file), {
      cwd: root,
      encoding: 'utf8',
      timeout: PATIENCE,
      maxBuffer: 2 ** 30,
      env: { ...environment(home), VENTUNO_TEST_FILE: file },
    })
    let ended = false
    for (const line of run.stdout.split('\n')) {
      if (!line.startsWith('\u0001')) continue
      const outcome = JSON.parse(line.slice(1))
      if (outcome.end !== undefined) ended = true
      else record(result, file, outcome)
    }
    if (ended) continue
    result.failed++
    const words = `${run.error ?? ''}${run.stderr}`.split('\n').slice(-20).join('\n')
    result.failures.push(`${file}: did not reach its end\n${words}`)
  }
  return result
}

function record(result, file, { name, failed, skipped, excepted }) {
  if (failed !== undefined) {
    result.failed++
    result.failures.push(`${file}: ${name}\n${failed}`)
  } else if (excepted !== undefined) {
    const title = skipped === undefined ? `passes by now: ${name}` : excepted
    result.exceptions.set(title, (result.exceptions.get(title) ?? 0) + 1)
  } else if (skipped !== undefined) {
    result.skipped++
  } else {
    result.passed++
  }
}
