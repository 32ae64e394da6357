// The files of a release from the tree as it is: the package, its bill of materials, the checksums. The workflow of a tag
// runs it, and gets the bytes that `npm run release` got: `node scripts/release/pack.mjs --tag=v1.2.3` fills release/.
// Without a tag, it does so for whoever wants the package before it is published (`npm run pack`).
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readManifest, stagePackage } from '../staged-package.mjs'
import { dateOf } from './changelog.mjs'
import { digest, sbomOf } from './sbom.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
if (process.argv[1] === fileURLToPath(import.meta.url)) main()

function main() {
  const { tag } = parseArgs({ options: { tag: { type: 'string' } } }).values
  const { version } = readManifest(root)
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(`the tag ${tag} is not that of version ${version}`)
  writeFiles(join(root, 'release'), filesOf(root))
}

export function writeFiles(folder, files) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes)
}

/** Builds and packs in this folder; name → bytes, the package first. */
export function filesOf(folder) {
  run(folder, 'npm', 'run', 'build')
  const manifest = stagePackage(folder, join(folder, 'build/package'))
  const { name, version } = manifest
  const date = dateOf(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'), version)
  run(folder, 'npm', 'pack', './build/package', '--pack-destination', 'build')
  const tarball = readFileSync(join(folder, 'build', `${name}-${version}.tgz`))
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  const sbom = JSON.stringify(sbomOf({ manifest, lock, tarball, date }), null, 2)
  const files = new Map([
    [`${name}-${version}.tgz`, tarball],
    [`${name}-${version}.cdx.json`, Buffer.from(`${sbom}\n`)],
  ])
  const sums = [...files].map(([name, bytes]) => `${digest('SHA-256', bytes)}  ${name}\n`)
  return files.set('SHA256SUMS', Buffer.from(sums.join('')))
}

/** Standard output of a command that must succeed. */
export function run(folder, program, ...words) {
  const { stdout, stderr, status, error } = spawnSync(program, words, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    shell: process.platform === 'win32',
  })
  if (status === 0) return stdout
  throw new Error(
    `${program} ${words.join(' ')}: ${error?.message ?? `exit code ${status}`}\n${stdout}${stderr}`,
  )
}
