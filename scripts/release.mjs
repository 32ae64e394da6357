// Makes a release: `npm run release -- minor`, or `major`, `patch`, or `current` for the version that package.json has.
// Works in two temporary clones, so that the tree stays as it is until all has succeeded: runs `.ci/run`, sets the version and
// the heading of the changelog, commits and tags, builds and packs in both clones and compares the bytes, makes the bill
// of materials and the checksums. Then the commit, the tag and the files in release/ are taken over. Publishes nothing: the
// workflow of the tag does, with provenance.
//
// --dry-run leaves nothing behind and prints everything; --skip-checks leaves `.ci/run` out, for the test of this file.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { nextVersion, sectionOf, withHeading } from './release/changelog.mjs'
import { filesOf, run, writeFiles } from './release/pack.mjs'
import { digest } from './release/sbom.mjs'
import { readManifest } from './staged-package.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values, positionals } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    'skip-checks': { type: 'boolean', default: false },
    date: { type: 'string', default: new Date().toISOString().slice(0, 10) },
  },
  allowPositionals: true,
})
const isDry = values['dry-run']
const { date } = values
/** A trial needs no author. */
const NOBODY = {
  GIT_AUTHOR_NAME: 'nobody',
  GIT_AUTHOR_EMAIL: '',
  GIT_COMMITTER_NAME: 'nobody',
  GIT_COMMITTER_EMAIL: '',
}
if (isDry) Object.assign(process.env, NOBODY)

const home = realpathSync(mkdtempSync(join(tmpdir(), 'ventuno-release-')))
try {
  release(...positionals)
} catch (error) {
  console.error(`release: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(home, { recursive: true, force: true })
}

function release(level, ...more) {
  if (level === undefined || more.length > 0)
    throw new Error('expected one of major, minor, patch and current')
  const version = nextVersion(readManifest(root).version, level)
  const tag = `v${version}`
  checkTree(tag)

  const [first, second] = ['one', 'two'].map((name) => join(home, name))
  git(root, 'clone', '--quiet', '--no-hardlinks', root, first)
  if (values['skip-checks']) installInto(first)
  else check(first)
  setVersion(first, version)
  // Nothing has changed if the version was never released.
  if (git(first, 'status', '--porcelain', '--untracked-files=no') !== '')
    git(first, 'commit', '--quiet', '--all', '-m', `chore: release ${version}`)
  git(first, 'tag', '--annotate', tag, '-m', `ventuno ${version}`)

  git(first, 'clone', '--quiet', first, second)
  installInto(second, first)
  const files = filesOf(first)
  const again = filesOf(second)
  for (const [name, bytes] of files) {
    if (!bytes.equals(again.get(name))) throw new Error(`two builds of ${name} differ`)
  }
  print(first, tag, files)
  if (!isDry) takeOver(first, tag, files)
}

/** Everything that is released is committed, and the version is new. */
function checkTree(tag) {
  const changes = git(root, 'status', '--porcelain')
  if (changes !== '') throw new Error(`there are changes that are not committed:\n${changes}`)
  if (git(root, 'tag', '--list', tag) !== '') throw new Error(`the tag ${tag} exists`)
  if (!isDry && git(root, 'branch', '--show-current') === '') throw new Error('HEAD is not on a branch')
}

function setVersion(folder, version) {
  run(folder, 'npm', 'version', version, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts')
  const path = join(folder, 'CHANGELOG.md')
  const text = withHeading(readFileSync(path, 'utf8'), version, date)
  if (sectionOf(text, version) === '' && !isDry)
    throw new Error('the changelog has nothing under "Unreleased"')
  writeFileSync(path, text)
}

/** Takes long, so what it prints is shown at once. */
function check(folder) {
  const { status } = spawnSync('bash', ['.ci/run'], { cwd: folder, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('.ci/run failed')
}

/** The packages that the build needs: those of another folder that has them, or from the registry. */
function installInto(folder, from = root) {
  const modules = join(from, 'node_modules')
  if (existsSync(modules)) symlinkSync(modules, join(folder, 'node_modules'), 'junction')
  else run(folder, 'npm', 'ci', '--no-audit', '--no-fund')
}

function print(folder, tag, files) {
  const [[name, tarball]] = files
  console.log(`\n# ${tag}${isDry ? ' (dry run)' : ''}\n`)
  console.log(git(folder, 'log', '--stat', '--format=%s', '-1', tag))
  console.log(
    `\n## CHANGELOG.md\n\n${sectionOf(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'), tag.slice(1)) || '(nothing)'}`,
  )
  console.log(`\n## ${name}\n`)
  console.log(run(folder, 'tar', '-tzvf', join('build', name)))
  console.log(`${tarball.length} bytes, sha512-${digest('SHA-512', tarball, 'base64')}`)
  for (const [name, bytes] of files)
    if (name !== files.keys().next().value) console.log(`\n## ${name}\n\n${bytes}`)
  console.log('Two builds in two folders gave the same bytes.')
  console.log(
    `Would be published by the workflow of the tag: npm publish ${name} --provenance --access public`,
  )
}

function takeOver(folder, tag, files) {
  git(root, 'pull', '--quiet', '--ff-only', '--tags', folder, 'HEAD')
  writeFiles(join(root, 'release'), files)
  console.log(`\nThe files are in release/. Look at them, then: git push --follow-tags origin HEAD ${tag}`)
}

function git(folder, ...words) {
  return run(folder, 'git', ...words).trim()
}
