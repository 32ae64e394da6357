// Installs the packages of the lock file, and puts this library in undici's place: every copy of undici in the tree is
// exchanged, as an override of npm does it.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { usePackage } from '../package/packed.mjs'

/** npm's words for a registry that cannot be reached. */
const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT|E5\d\d)\b/

/** Milliseconds for the installation. */
const PATIENCE = 600_000

/** The names of undici in the tree. */
const UNDICI = ['undici', 'undici8']

/** The name of the real one while this library is in its place. */
const aside = (name) => `.${name}-aside`

/** Null, or why the packages are missing. Throws if anything but the registry is at fault. */
export function installPackages(folder) {
  const modules = join(folder, 'node_modules')
  const stamp = join(modules, '.installed')
  const lock = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) {
    giveBack(modules)
    return null
  }
  // Without scripts: none of the packages needs them, and nothing is built or fetched from elsewhere.
  const words = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, stdout, stderr, error } = spawnSync('npm', words, {
    encoding: 'utf8',
    timeout: PATIENCE,
    shell: process.platform === 'win32',
  })
  if (status === 0) {
    writeFileSync(stamp, lock)
    return null
  }
  // The error is that of a registry which accepts connections and then keeps silent: npm was stopped.
  const output = `${error ?? ''}${stdout}${stderr}`
  const code = UNREACHABLE.exec(output)
  if (code !== null) return `the package registry is not reachable (${code[0]})`
  throw new Error(`npm ci failed\n${output}`)
}

/** Puts the packed library into the place of every undici in the tree; returns the way back. */
export function useLibrary(folder) {
  const modules = join(folder, 'node_modules')
  const endings = []
  try {
    const { installed } = usePackage({ after: (ending) => endings.push(ending) })
    for (const name of UNDICI) {
      for (const place of placesOf(modules, name)) {
        renameSync(join(place, name), join(place, aside(name)))
        cpSync(installed, join(place, name), { recursive: true })
      }
    }
  } finally {
    for (const ending of endings) ending()
  }
  return () => giveBack(modules)
}

function giveBack(modules) {
  for (const name of UNDICI) {
    for (const place of placesOf(modules, aside(name))) {
      rmSync(join(place, name), { recursive: true, force: true })
      renameSync(join(place, aside(name)), join(place, name))
    }
  }
}

/** Every `node_modules` in the tree that has a package, or another folder, with this name. */
function* placesOf(modules, name) {
  if (existsSync(join(modules, name))) yield modules
  for (const entry of readdirSync(modules, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const path = join(modules, entry.name)
    const packages = entry.name.startsWith('@') ? readdirSync(path).map((part) => join(path, part)) : [path]
    for (const each of packages) {
      if (existsSync(join(each, 'node_modules'))) yield* placesOf(join(each, 'node_modules'), name)
    }
  }
}
