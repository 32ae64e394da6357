// The test files of the project, and how Node runs them.
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileTests } from './compile-tests.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Finds the files itself: `node --test` learned globs only after Node 20. With words: the paths with one of them. */
export function testFiles(words) {
  const files = readdirSync(join(root, 'test'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    // Packages that other tests install contain tests, too.
    .filter((file) => !file.includes('node_modules'))
    .filter((file) => words.length === 0 || words.some((part) => file.includes(part)))
  // Backwards: with torture/ and suite/ last, one core would have nothing to do while the other runs the longest file.
  return files.sort().reverse()
}

/**
 * Compiles the tests; returns the arguments with which Node runs these files, and the environment. With a kind of
 * modules, `esm` or `cjs`, the tests use the package in dist/, and only files that use something it exports are run.
 */
export async function nodeTests(files, kind) {
  const tree = kind ?? (process.env.NODE_V8_COVERAGE ? 'coverage' : 'source')
  const { folder, users } = await compileTests(tree)
  const chosen = kind === undefined ? files : files.filter((file) => users.has(file))
  const flags = [
    `--require=${join(root, 'scripts/without-test-hooks.cjs')}`,
    '--test',
    // By default the runner keeps one core for itself. A file may wait for a clock, a socket or a process for most of its time.
    `--test-concurrency=${2 * availableParallelism()}`,
    '--test-reporter=./scripts/test-reporter.mjs',
    '--test-reporter-destination=stdout',
  ]
  const scripts = chosen.map((file) => join(relative(root, folder), file.replace(/ts$/, 'js')))
  // Test vectors may be beside the project: the compiled tests are elsewhere.
  const env = {
    VENTUNO_VECTORS: join(root, '../shared/vectors'),
    ...process.env,
    VENTUNO_TESTED: kind === undefined ? 'source' : 'package',
  }
  return { flags, scripts, env }
}
