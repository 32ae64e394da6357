// Finds the test files itself: `node --test` learned globs only after Node 20.
// With arguments: runs only the files whose path contains one of them.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const wanted = process.argv.slice(2)

const files = readdirSync(join(root, 'test'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  // Packages that other tests install contain tests, too.
  .filter((file) => !file.includes('node_modules'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort()

if (files.length === 0) {
  console.error('no test file matches')
  process.exit(1)
}

// By default the runner keeps one core for itself, which is half of two.
const concurrency = `--test-concurrency=${availableParallelism()}`
// The maps of kept modules are good enough for stack traces, but not for coverage.
const loader = process.env.NODE_V8_COVERAGE ? 'tsx' : './scripts/register-typescript.mjs'
const flags = ['--import', loader, '--test', concurrency, '--test-reporter=spec']
const run = spawnSync(process.execPath, [...flags, ...files], { cwd: root, stdio: 'inherit' })
process.exit(run.status ?? 1)
