// Prepares the measurement: a fresh build, the peers, the Debian packages.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const BENCH = fileURLToPath(new URL('.', import.meta.url))
export const CERTS = join(ROOT, 'test/support/certs')

/** Program → the Debian package that provides it. */
const DEBIAN = {
  nginx: 'nginx-light',
  tinyproxy: 'tinyproxy-bin',
  wrk: 'wrk',
  h2load: 'nghttp2-client',
  taskset: 'util-linux',
}

const POLICY = '/usr/sbin/policy-rc.d'

/** The folder of the build to measure. Builds it if `dist` is older than `src`. */
export function prepareLibrary(given) {
  if (given !== undefined) return given
  const dist = join(ROOT, 'dist')
  const entry = join(dist, 'index.js')
  if (!existsSync(entry) || newest(join(ROOT, 'src')) > statSync(entry).mtimeMs) {
    console.error('building the library')
    // The compiler prints its errors to stdout, which is for the table.
    execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 2, 2] })
  }
  return dist
}

/** The folder with the separate modules that the build bundles, for the micro benchmarks. */
export function prepareModules(given) {
  if (given !== undefined) return given
  execFileSync('npx', ['tsc', '-p', join(BENCH, 'tsconfig.modules.json')], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  })
  return join(BENCH, 'dist/modules')
}

function newest(folder) {
  let time = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) time = Math.max(time, statSync(join(entry.parentPath, entry.name)).mtimeMs)
  }
  return time
}

/** Installs the peers if the folder does not match package.json. */
export function preparePeers(install) {
  const { dependencies } = JSON.parse(readFileSync(join(BENCH, 'package.json'), 'utf8'))
  const versions = () =>
    Object.fromEntries(Object.keys(dependencies).map((name) => [name, installedVersion(name)]))
  const complete = () =>
    Object.entries(versions()).every(([name, version]) => version === dependencies[name]) &&
    existsSync(benchNode())
  if (!complete()) {
    if (!install) throw new Error('the peers are missing and --no-install was given')
    console.error('installing the peers')
    // Peers may require a later Node than the one that runs npm: they run on the Node that is installed here.
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: BENCH,
      stdio: 'inherit',
    })
    if (!complete()) throw new Error('npm ci did not bring what bench/package.json asks for')
  }
  return versions()
}

function installedVersion(name) {
  try {
    return JSON.parse(readFileSync(join(BENCH, 'node_modules', name, 'package.json'), 'utf8')).version
  } catch {
    return null
  }
}

/** The Node that all candidates run on. */
export function benchNode() {
  return join(BENCH, 'node_modules/node/bin/node')
}

/** Installs missing programs; returns the available ones. */
export function preparePrograms(install) {
  const missing = Object.keys(DEBIAN).filter((name) => !has(name))
  if (missing.length > 0 && install) {
    const packages = missing.map((name) => DEBIAN[name])
    console.error(`installing ${packages.join(' ')}`)
    if (!aptInstall(packages)) {
      console.error(`could not: install them by hand (apt-get install ${packages.join(' ')})`)
    }
  }
  const present = new Set(Object.keys(DEBIAN).filter(has))
  if (!present.has('nginx')) throw new Error('nginx is needed: apt-get install nginx-light')
  return present
}

function has(program) {
  return programPath(program) !== null
}

export function programPath(program) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null
}

function aptInstall(packages) {
  const root = process.getuid() === 0
  const run = (...args) =>
    spawnSync(root ? 'apt-get' : 'sudo', root ? args : ['-n', 'apt-get', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'ignore', 'inherit'],
    }).status === 0
  // Debian asks this script whether a package may start its service; 101 is "no".
  const policy = root && !existsSync(POLICY)
  if (policy) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    const install = ['install', '-y', '-q', '--no-install-recommends', ...packages]
    return run(...install) || (run('update', '-q') && run(...install))
  } finally {
    if (policy) rmSync(POLICY)
  }
}
