// Compares with a version of undici from the package registry: `npm run compare-undici -- 8.13`. Prints what it has and
// the library lacks, and the options whose type differs from that in the version that the library follows. Fails if
// something is missing that is not known to be absent on purpose. Needs no build.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { differences, reasonFor } from './undici-differences.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const [version, ...more] = process.argv.slice(2)
if (version === undefined || !/^[\w.^~-]+$/.test(version) || more.length > 0) {
  console.error('usage: npm run compare-undici -- <version of undici>')
  process.exit(2)
}

const home = mkdtempSync(join(tmpdir(), 'compare-undici-'))
try {
  const { undici: followed } = manifestOf(join(root, 'bench')).dependencies
  // The compiler of the project has no API.
  const { typescript } = manifestOf(join(root, 'test/package')).dependencies
  install(`undici@${version}`, `followed@npm:undici@${followed}`, `typescript@${typescript}`)
  const modules = join(home, 'node_modules')
  const found = differences({
    ts: createRequire(join(home, 'index.js'))('typescript'),
    named: join(modules, 'undici'),
    followed: join(modules, 'followed'),
    ours: join(root, 'src/index.ts'),
    typeRoots: [join(root, 'node_modules/@types')],
  })
  const [theirs, ours] = [join(modules, 'undici'), root].map((folder) => manifestOf(folder).version)
  console.log(`undici ${theirs} beside ventuno ${ours}, which follows undici ${followed}`)
  for (const kind of ['exports', 'types', 'options']) print(kind, found[kind])
  console.log(`options with another type than in ${followed}: ${found.changed.length}`)
  for (const [name, type] of found.changed) console.log(`  ${name}: ${type}`)
} finally {
  rmSync(home, { recursive: true, force: true })
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function install(...packages) {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent']
  const run = spawnSync('npm', ['install', '--prefix', home, ...flags, ...packages], {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (run.status !== 0) throw new Error(`cannot install ${packages.join(', ')}`)
}

function print(kind, { count, missing }) {
  const surprises = missing.filter((name) => reasonFor(name) === undefined)
  console.log(
    `${kind}: ${count}, missing: ${surprises.length}, absent on purpose: ${missing.length - surprises.length}`,
  )
  for (const name of surprises) console.log(`  ${name}`)
  for (const name of missing.filter((name) => !surprises.includes(name))) {
    console.log(`  (${name}: ${reasonFor(name)})`)
  }
  if (surprises.length > 0) process.exitCode = 1
}
