// Finds the test files itself: `node --test` learned globs only after Node 20.
// With arguments: runs only the files whose path contains one of them.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileTests } from './compile-tests.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const wanted = process.argv.slice(2)

const files = readdirSync(join(root, 'test'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  // Packages that other tests install contain tests, too.
  .filter((file) => !file.includes('node_modules'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  // Backwards: with torture/ and suite/ last, one core would have nothing to do while the other runs the longest file.
  .sort()
  .reverse()

if (files.length === 0) {
  console.error('no test file matches')
  process.exit(1)
}

// Coverage is counted in each source file.
const compiled = await compileTests({ together: !process.env.NODE_V8_COVERAGE })
const scripts = files.map((file) => join(relative(root, compiled), file.replace(/ts$/, 'js')))
// By default the runner keeps one core for itself, which is half of two.
const concurrency = `--test-concurrency=${availableParallelism()}`
const flags = [
  '--test',
  concurrency,
  '--test-reporter=./scripts/test-reporter.mjs',
  '--test-reporter-destination=stdout',
]
// Test vectors may be beside the project: the compiled tests are elsewhere.
const env = { VENTUNO_VECTORS: join(root, '../shared/vectors'), ...process.env }
const run = spawnSync(process.execPath, [...flags, ...scripts], { cwd: root, env, stdio: 'inherit' })
process.exit(run.status ?? 1)
