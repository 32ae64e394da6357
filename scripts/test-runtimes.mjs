// Runs the tests with other versions of Node than the current one: each is installed from the package registry
// (package `node`) into a temporary folder, which is removed afterwards. Prints one line per runtime, followed by
// its failures. With arguments: runs only the test files whose path contains one of them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const VERSIONS = (process.env.VENTUNO_RUNTIMES ?? '22,24,26').split(',')

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
if (files.length === 0) {
  console.error('no test file matches')
  process.exit(1)
}

const home = mkdtempSync(join(tmpdir(), 'runtimes-'))
let failed = false
try {
  for (const version of VERSIONS) if (!check(version)) failed = true
} finally {
  rmSync(home, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)

function check(version) {
  const folder = join(home, version)
  const runtime = install(version, folder)
  if (runtime === null) return false
  const start = Date.now()
  const flags = ['--import', 'tsx', '--test', '--test-reporter=tap', `--test-timeout=${PATIENCE}`]
  const run = spawnSync(runtime, [...flags, ...files], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(run.stdout)?.[1] ?? 0)
  const { stdout: name } = spawnSync(runtime, ['--version'], { encoding: 'utf8' })
  const seconds = Math.round((Date.now() - start) / 1000)
  const ok = run.status === 0
  console.log(
    `${ok ? 'ok    ' : 'FAILED'} ${name.trim()}: ${count('pass')} passed, ${count('fail')} failed, ` +
      `${count('cancelled')} cancelled, ${count('skipped')} skipped, ${files.length} files, ${seconds} s`,
  )
  if (!ok) report(run)
  return ok
}

/** The failed tests, each with enough of its error to identify it. */
function report({ stdout, stderr }) {
  const lines = stdout.split('\n')
  const blocks = lines.flatMap((line, index) => {
    if (!/^\s*not ok /.test(line)) return []
    const end = lines.indexOf(`${/^\s*/.exec(line)[0]}  ...`, index)
    return lines.slice(index, Math.min(end + 1 || index + 1, index + MAX_LINES))
  })
  console.log(blocks.length > 0 ? blocks.join('\n') : `${lines.slice(-MAX_LINES).join('\n')}\n${stderr}`)
}

/** The path of the runtime, or null if it is unavailable. */
function install(version, folder) {
  const windows = process.platform === 'win32'
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const run = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--no-save', `node@${version}`], {
    cwd: folder,
    encoding: 'utf8',
    shell: windows,
  })
  const runtime = join(folder, 'node_modules', 'node', 'bin', windows ? 'node.exe' : 'node')
  if (run.status === 0 && spawnSync(runtime, ['--version']).status === 0) return runtime
  console.log(`FAILED node@${version}: could not be installed\n${run.stdout}${run.stderr}`)
  return null
}
