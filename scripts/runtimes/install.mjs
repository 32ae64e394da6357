// Runtimes from the package registry, each in a folder of its own.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const windows = process.platform === 'win32'

/** The versions whose exceptions `test/runtimes/exceptions.ts` lists. */
const PINNED = { bun: '1.4.4', deno: '2.9.5' }

/**
 * @typedef {object} Runtime
 * @property {'node' | 'bun' | 'deno'} kind
 * @property {string} title with its version
 * @property {string} path of its program
 */

/**
 * @param {string} name `22` or `node@22`, `bun`, `deno@2.9.5`
 * @param {string} home the folder in which a folder for it is made
 * @returns {Runtime | string} the runtime, or why there is none
 */
export function install(name, home) {
  const [kind, version] = /^\d/.test(name) ? ['node', name] : name.split('@')
  if (kind !== 'node' && PINNED[kind] === undefined) return 'not known'
  const spec = `${kind}@${version ?? PINNED[kind] ?? 'latest'}`
  const folder = join(home, spec)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  // Scripts would only move a program to another place; some versions of npm do not run them.
  const scripts = kind === 'node' ? [] : ['--ignore-scripts']
  const run = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--no-save', ...scripts, spec], {
    cwd: folder,
    encoding: 'utf8',
    shell: windows,
  })
  const modules = join(folder, 'node_modules')
  for (const path of run.status === 0 ? programs(kind, modules) : []) {
    const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
    if (status === 0) return { kind, title: titleOf(kind, stdout), path }
  }
  const reason = `${run.error ?? ''}${run.stdout}${run.stderr}`
    .split('\n')
    .filter((line) => /error|libc/i.test(line))
  return `${spec} could not be installed${reason.length > 0 ? `\n${reason.join('\n')}` : ''}`
}

/** The places where a program may be: a package may bring one for each kind of processor. */
function programs(kind, modules) {
  const end = windows ? '.exe' : ''
  if (kind === 'node') return [join(modules, 'node', 'bin', `node${end}`)]
  const scope = join(modules, kind === 'bun' ? '@oven' : '@deno')
  const inner = kind === 'bun' ? join('bin', `bun${end}`) : `deno${end}`
  try {
    return readdirSync(scope).map((name) => join(scope, name, inner))
  } catch {
    return []
  }
}

/** `node 22.1.0`, of an output like `v22.1.0` or `deno 2.9.5 (stable, …`. */
function titleOf(kind, output) {
  return `${kind} ${/\d+\.\d+\.\d+/.exec(output)?.[0] ?? output.trim()}`
}

/** The environment of a runtime: it keeps its files in the folder, and asks no server for a newer version. */
export function environment(home) {
  return {
    ...process.env,
    DENO_DIR: join(home, 'deno-cache'),
    DENO_NO_UPDATE_CHECK: '1',
    DO_NOT_TRACK: '1',
    NO_COLOR: '1',
  }
}
