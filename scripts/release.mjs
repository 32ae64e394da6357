// Makes a release: `npm run release -- minor`, or `major`, `patch`, or `current` for the version that package.json has.
// Works in two temporary clones, so that the tree stays as it is until all has succeeded: runs `.ci/run`, sets the version and
// the heading of the changelog, commits and tags, builds and packs in both clones and compares the bytes, makes the bill
// of materials and the checksums. Then the commit, the tag and the files in release/ are taken over. Publishes nothing: the
// workflow of the tag does, with provenance.
//
// --dry-run leaves nothing behind and prints everything; with it, --skip-checks leaves `.ci/run` out, which takes long.
// --date=2027-01-02 is the date of the version, today without it.
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
import { dateOf, isDate, nextVersion, problemOf, sectionOf, withHeading } from './release/changelog.mjs'
import { filesOf, run, writeFiles } from './release/pack.mjs'
import { digest } from './release/sbom.mjs'
import { readManifest } from './staged-package.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Releases are made from it alone. */
const BRANCH = 'main'
/** A trial needs no author and no key, whatever the configuration of git says. */
const NOBODY = {
  GIT_AUTHOR_NAME: 'nobody',
  GIT_AUTHOR_EMAIL: '',
  GIT_COMMITTER_NAME: 'nobody',
  GIT_COMMITTER_EMAIL: '',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'commit.gpgSign',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'tag.gpgSign',
  GIT_CONFIG_VALUE_1: 'false',
}

// Ctrl-C ends the command that runs. This process gets to remove its folder.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
let home
try {
  const request = readRequest()
  home = realpathSync(mkdtempSync(join(tmpdir(), 'ventuno-release-')))
  release(request)
} catch (error) {
  console.error(`release: ${error.message}`)
  process.exitCode = 1
} finally {
  if (home !== undefined) rmSync(home, { recursive: true, force: true })
}

function readRequest() {
  const { values, positionals } = parseArgs({
    options: {
      'dry-run': { type: 'boolean', default: false },
      'skip-checks': { type: 'boolean', default: false },
      date: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    },
    allowPositionals: true,
  })
  // Without the `--` in front, npm keeps the word for itself, and what is meant as a trial would be a release.
  if (process.env.npm_config_dry_run === 'true')
    throw new Error('npm took --dry-run for itself: npm run release -- patch --dry-run')
  const [level, ...more] = positionals
  if (level === undefined || more.length > 0)
    throw new Error('expected one of major, minor, patch and current')
  const isDry = values['dry-run']
  if (values['skip-checks'] && !isDry) throw new Error('--skip-checks is for --dry-run only')
  const { date } = values
  if (!isDate(date)) throw new Error(`expected a date such as 2027-01-02, got ${date}`)
  return { level, date, isDry, isChecked: !values['skip-checks'] }
}

function release({ level, date, isDry, isChecked }) {
  if (isDry) Object.assign(process.env, NOBODY)
  const version = nextVersion(readManifest(root).version, level)
  const tag = `v${version}`
  checkTree(tag)
  const refusals = refusalsOf(version)
  if (!isDry && refusals.length > 0) throw new Error(refusals.join('; '))

  const [first, second] = ['one', 'two'].map((name) => join(home, name))
  git(root, 'clone', '--quiet', '--no-hardlinks', root, first)
  if (isChecked) check(first)
  else installInto(first)
  setVersion(first, version, date)
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
  print(first, tag, files, isDry)
  if (!isDry) takeOver(first, tag, files)
  else if (refusals.length > 0) console.log(`As it is, the release would be refused: ${refusals.join('; ')}`)
}

/** Everything that is released is committed, and the version is new. */
function checkTree(tag) {
  const changes = git(root, 'status', '--porcelain', '--untracked-files=all')
  if (changes !== '') throw new Error(`there are changes that are not committed:\n${changes}`)
  if (git(root, 'tag', '--list', tag) !== '') throw new Error(`the tag ${tag} exists`)
}

/** What a release needs, and a trial does not. */
function refusalsOf(version) {
  const refusals = []
  const branch = git(root, 'branch', '--show-current')
  if (branch !== BRANCH)
    refusals.push(`${branch === '' ? 'HEAD is on no branch' : `the branch is ${branch}`}, not ${BRANCH}`)
  const problem = problemOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
  if (problem !== null) refusals.push(problem)
  return refusals
}

function setVersion(folder, version, date) {
  run(folder, 'npm', 'version', version, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts')
  const path = join(folder, 'CHANGELOG.md')
  writeFileSync(path, withHeading(readFileSync(path, 'utf8'), version, date))
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

function print(folder, tag, files, isDry) {
  const [[name, tarball]] = files
  const version = tag.slice(1)
  const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
  console.log(`\n# ${tag}${isDry ? ' (dry run)' : ''}\n`)
  console.log(git(folder, 'log', '--stat', '--format=%s', '-1', tag))
  console.log(`\n## CHANGELOG.md: ${version} - ${dateOf(changelog, version)}`)
  console.log(`\n${sectionOf(changelog, version) || '(nothing)'}`)
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
  // The tag comes last: if something else has been committed meanwhile, none is left behind.
  git(root, 'pull', '--quiet', '--ff-only', '--no-tags', folder, 'HEAD')
  git(root, 'fetch', '--quiet', '--no-tags', folder, `refs/tags/${tag}:refs/tags/${tag}`)
  writeFiles(join(root, 'release'), files)
  console.log(`\nThe files are in release/. Look at them, then: git push --follow-tags origin HEAD ${tag}`)
}

function git(folder, ...words) {
  return run(folder, 'git', ...words).trim()
}
