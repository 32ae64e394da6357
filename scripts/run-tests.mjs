// Runs the tests. With arguments: runs only the files whose path contains one of them.
import { spawnSync } from 'node:child_process'
import { nodeTests, root, testFiles } from './test-files.mjs'

const files = testFiles(process.argv.slice(2))
if (files.length === 0) {
  console.error('no test file matches')
  process.exit(1)
}

const { flags, scripts, env } = await nodeTests(files)
const run = spawnSync(process.execPath, [...flags, ...scripts], { cwd: root, env, stdio: 'inherit' })
process.exit(run.status ?? 1)
