// Runs the tests. With arguments: runs only the files whose path contains one of them. With --dist=esm or --dist=cjs,
// the tests of what the package exports run against the package in dist/, imported or required.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { nodeTests, root, testFiles } from './test-files.mjs'

const { values, positionals } = parseArgs({ options: { dist: { type: 'string' } }, allowPositionals: true })
const { flags, scripts, env } = await nodeTests(testFiles(positionals), values.dist)
if (scripts.length === 0) {
  console.error('no test file matches')
  process.exit(1)
}
const run = spawnSync(process.execPath, [...flags, ...scripts], { cwd: root, env, stdio: 'inherit' })
process.exit(run.status ?? 1)
