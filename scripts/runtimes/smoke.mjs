// The smoke test with any runtime: the package as published, installed into a folder, used by its own name.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { environment } from './install.mjs'

/** Milliseconds. */
const PATIENCE = 300_000

/** Builds, packs and installs the package; returns the folder where it is installed. */
export function preparePackage({ root, home }) {
  const app = join(home, 'app')
  mkdirSync(app)
  npm(root, 'run', 'build')
  const listing = npm(root, 'pack', '--ignore-scripts', '--json', '--pack-destination', home)
  const [{ filename }] = Object.values(JSON.parse(listing))
  writeFileSync(join(app, 'package.json'), '{ "private": true }')
  npm(app, 'install', '--offline', '--no-audit', '--no-fund', join(home, filename))
  copyFileSync(join(root, 'test', 'runtimes', 'smoke.mjs'), join(app, 'smoke.mjs'))
  return app
}

function npm(folder, ...words) {
  const run = spawnSync('npm', words, { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' })
  if (run.status !== 0)
    throw new Error(`npm ${words.join(' ')}\n${run.error ?? ''}${run.stdout}${run.stderr}`)
  return run.stdout
}

/** Starts the origins in a process of the current Node; returns what the smoke test needs to know, and their process. */
async function startOrigins({ kind }, { root, home }) {
  const script = join(root, 'test', 'runtimes', 'smoke-origin.mjs')
  const name = `ventuno-${process.pid}-${kind}-${Date.now()}`
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(home, name)
  const origins = spawn(process.execPath, [script, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: origins.stdout })
  const [described] = await Promise.race([once(lines, 'line'), once(lines, 'close')])
  if (described === undefined) throw new Error('the origins of the smoke test did not start')
  return { described, origins }
}

/**
 * @returns the numbers of checks, and the output if one failed
 */
export async function runSmoke(runtime, app, places) {
  const { kind, path } = runtime
  const { described, origins } = await startOrigins(runtime, places)
  const flags =
    kind === 'deno' ? ['run', '--allow-all', '--no-lock', '--node-modules-dir=manual', '--quiet'] : []
  const program = spawn(path, [...flags, 'smoke.mjs'], {
    cwd: app,
    timeout: PATIENCE,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...environment(places.home), VENTUNO_ORIGINS: described },
  })
  let output = ''
  for (const stream of [program.stdout, program.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk
    })
  }
  const [status] = await once(program, 'close')
  origins.stdin.end()
  await once(origins, 'close')
  const [, passed = 0, total = 0] = /^# (\d+) of (\d+) passed$/m.exec(output) ?? []
  return { ok: status === 0, passed, total, output }
}
