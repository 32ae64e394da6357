// Runs the tests under c8 and checks branch coverage: all of src/protocol, nine tenths of the rest. Only the branches
// decide. Whether the tests pass is for `npm test`, which runs the code without instrumentation: under it, a test that
// depends on how fast the machine is may fail, and that says nothing about coverage.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const PARTS = [
  { name: 'src/protocol', least: 100, has: (file) => file.startsWith('src/protocol/') },
  {
    name: 'the rest of src',
    least: 90,
    // Processes that tests start may run the sources in the copy of the tree: those are the same files again.
    has: (file) => file.startsWith('src/') && !file.startsWith('src/protocol/'),
  },
]

const run = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/c8/bin/c8.js'),
    // The compiled files, which run-tests.mjs writes; the report leads to the sources.
    '--include=build/coverage/src/**',
    '--reporter=json-summary',
    '--reporter=text',
    process.execPath,
    'scripts/run-tests.mjs',
  ],
  { cwd: root, stdio: 'inherit' },
)
if (run.status === null) throw run.error ?? new Error(`the tests were ended by ${run.signal}`)
if (run.status !== 0) console.log('Tests failed under instrumentation: see above, and run `npm test`.')

const { total: _, ...files } = JSON.parse(readFileSync(join(root, 'coverage/coverage-summary.json'), 'utf8'))
let failed = false
for (const { name, least, has } of PARTS) {
  let covered = 0
  let total = 0
  for (const [path, { branches }] of Object.entries(files)) {
    if (!has(relative(root, path).replaceAll('\\', '/'))) continue
    covered += branches.covered
    total += branches.total
  }
  const percent = total === 0 ? 100 : (100 * covered) / total
  const short = percent < least
  failed ||= short
  console.log(
    `branches of ${name}: ${percent.toFixed(2)} % of ${total}${short ? `, but ${least} % are wanted` : ''}`,
  )
}
process.exit(failed ? 1 : 0)
