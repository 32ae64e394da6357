// The library as its users get it: packed from `dist`, the output of `npm run build`, as a release packs it, and installed
// into a temporary folder, which is removed after the tests.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stagePackage } from '../../scripts/staged-package.mjs'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Packs and installs the package; returns its contents and its location. */
export function usePackage({ after }) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ventuno-package-')))
  after(() => rmSync(home, { recursive: true, force: true }))
  const staged = join(home, 'staged')
  stagePackage(root, staged)
  const listing = npm(staged, 'pack', '--json', '--pack-destination', home)
  const [packed] = Object.values(JSON.parse(listing))
  const tarball = join(home, packed.filename)
  const app = join(home, 'app')
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), '{ "private": true }')
  npm(app, 'install', '--offline', '--no-audit', '--no-fund', tarball)
  return { packed, tarball, app, installed: join(app, 'node_modules', 'ventuno') }
}

function npm(folder, ...words) {
  return run('npm', words, { cwd: folder, shell: process.platform === 'win32' })
}

/** Timeout in milliseconds, far above the needs of any program here. */
const PATIENCE = 120_000

/** Standard output of a program that must succeed. */
export function run(program, words, options = {}) {
  const { stdout, stderr, status, error } = spawnSync(program, words, {
    encoding: 'utf8',
    timeout: PATIENCE,
    ...options,
  })
  assert.equal(status, 0, `${program} ${words.join(' ')}\n${error ?? ''}${stdout}${stderr}`)
  return stdout
}

/** Standard output of a script with this text in the folder where the package is installed. */
export function runScript(app, name, text, options = {}) {
  writeFileSync(join(app, name), text)
  return run(process.execPath, [name], { cwd: app, ...options }).trim()
}
