// `npm run release` on a clean clone: a trial prints everything and leaves nothing behind, and a release has its bytes.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { isDate, nextVersion, problemOf, sectionOf, withHeading } from '../../scripts/release/changelog.mjs'
import { root, run } from './packed.mjs'

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n### Fixed\n\n- A thing.\n\n## 0.1.0 - 2026-11-18\n\nThe first.\n'

describe('the changelog', () => {
  test('gets the heading of the version, once', () => {
    const text = withHeading(CHANGELOG, '0.2.0', '2027-01-02')
    assert.match(text, /## Unreleased\n\n## 0\.2\.0 - 2027-01-02\n\n### Fixed\n/)
    assert.equal(sectionOf(text, '0.2.0'), '### Fixed\n\n- A thing.')
    assert.equal(sectionOf(text, '0.1.0'), 'The first.')
    assert.equal(withHeading(text, '0.2.0', '2027-01-03'), text)
    assert.equal(sectionOf(text, '0.2'), null)
    assert.throws(() => withHeading('# Changelog\n', '1.0.0', '2027-01-02'), /no heading "Unreleased"/)
  })

  test('has something to say about a version that is new, and all of it under its heading', () => {
    assert.equal(problemOf(CHANGELOG, '0.2.0'), null)
    assert.match(problemOf(CHANGELOG, '0.1.0'), /lines under "Unreleased", and a heading for 0\.1\.0/)
    const released = withHeading(CHANGELOG, '0.2.0', '2027-01-02')
    assert.equal(problemOf(released, '0.2.0'), null)
    assert.match(problemOf(released, '0.3.0'), /nothing under "Unreleased"/)
    assert.match(problemOf('# Changelog\n\n## Unreleased\n', '0.3.0'), /nothing under "Unreleased"/)
    assert.match(problemOf('# Changelog\n', '0.3.0'), /no heading "Unreleased"/)
  })

  test('has days of the calendar', () => {
    const days = ['2027-01-02', '2028-02-29', '2027-02-29', '2027-13-01', '27-01-02', 'today', '']
    assert.deepEqual(days.filter(isDate), ['2027-01-02', '2028-02-29'])
  })

  test('is that of the next version', () => {
    const next = (level) => nextVersion('1.2.3', level)
    assert.deepEqual(['patch', 'minor', 'major', 'current'].map(next), ['1.2.4', '1.3.0', '2.0.0', '1.2.3'])
    assert.throws(() => next('tiny'), /expected major, minor, patch or current, got tiny/)
    assert.throws(() => nextVersion('1.2.3-rc.1', 'patch'), /is no version/)
  })
})

describe('a release', () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ventuno-release-test-')))
  after(() => rmSync(home, { recursive: true, force: true }))
  const clone = join(home, 'clone')
  const temporary = join(home, 'tmp')
  mkdirSync(temporary)
  const git = (...words) => run('git', ['-c', 'user.name=a', '-c', 'user.email=b', ...words], { cwd: clone })

  /** Everything that is here, with the changes that are not committed yet. */
  function makeClone() {
    run('git', ['clone', '--quiet', '--no-hardlinks', root, clone])
    for (const path of run('git', ['ls-files', '-mo', '--exclude-standard'], { cwd: root })
      .split('\n')
      .filter(Boolean)) {
      cpSync(join(root, path), join(clone, path), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'), 'junction')
    const text = readFileSync(join(clone, 'CHANGELOG.md'), 'utf8')
    writeFileSync(
      join(clone, 'CHANGELOG.md'),
      text.replace('## Unreleased\n', '## Unreleased\n\n### Fixed\n\n- A thing.\n'),
    )
    // What it checks has tests of its own, and takes an hour.
    writeFileSync(
      join(clone, '.ci/run'),
      `echo checked; [ ! -e ${join(home, 'red')} ] && ln -s ${join(root, 'node_modules')} node_modules`,
    )
    git('checkout', '--quiet', '-B', 'main')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'all')
  }

  /** With a date, since the tests may run at midnight. */
  function release(...words) {
    return releaseWith({}, ...words)
  }

  /** `umask` is that of the shell of the one who releases; the rest is environment. */
  function releaseWith({ umask = '022', ...env }, ...words) {
    const command = `umask ${umask}; exec "$0" scripts/release.mjs --date=2027-01-02 "$@"`
    const author = {
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'b',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'b',
    }
    const { stdout, stderr, status } = spawnSync('sh', ['-c', command, process.execPath, ...words], {
      cwd: clone,
      env: { ...process.env, ...author, ...env, TMPDIR: temporary },
      encoding: 'utf8',
    })
    return { output: stdout + stderr, status }
  }

  const state = () => git('log', '--format=%H', '-1') + git('tag') + git('status', '--porcelain', '--ignored')
  const sumsIn = (output) => [...output.matchAll(/^[0-9a-f]{64} {2}ventuno-.*$/gm)].map(([line]) => line)

  makeClone()

  test('that is tried does not depend on who tries it, where and when', () => {
    git('checkout', '--quiet', '-b', 'idea')
    const before = state()
    const shell = { umask: '077', TZ: 'Asia/Tokyo', LC_ALL: 'tr_TR.UTF-8' }
    // A configuration that asks for a key that nobody has.
    const config = join(home, 'gitconfig')
    writeFileSync(
      config,
      '[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n[user]\n\tsigningKey = none\n',
    )
    const strange = releaseWith(
      { ...shell, GIT_CONFIG_GLOBAL: config },
      'minor',
      '--dry-run',
      '--skip-checks',
    )
    assert.equal(strange.status, 0, strange.output)
    assert.match(strange.output, /would be refused: the branch is idea, not main$/m)
    assert.equal(state(), before)
    git('checkout', '--quiet', 'main')
    const plain = release('minor', '--dry-run', '--skip-checks')
    assert.equal(plain.status, 0, plain.output)
    assert.equal(sumsIn(plain.output).length, 2)
    assert.deepEqual(sumsIn(strange.output), sumsIn(plain.output))
  })

  test('that is tried prints everything and leaves nothing; one that is made has the same bytes', () => {
    const before = state()
    const trial = release('minor', '--dry-run', '--skip-checks')
    assert.equal(trial.status, 0, trial.output)
    assert.doesNotMatch(trial.output, /^checked$|would be refused/m)
    for (const part of [
      /^# v0\.2\.0 \(dry run\)$/m,
      /^chore: release 0\.2\.0$/m,
      /^## CHANGELOG\.md: 0\.2\.0 - 2027-01-02\n\n### Fixed\n\n- A thing\.$/m,
      /package\/dist\/index\.cjs$/m,
      /^\d+ bytes, sha512-[\w+/]+=*$/m,
      /"bomFormat": "CycloneDX"/,
      /^npm publish|npm publish ventuno-0\.2\.0\.tgz --provenance/m,
    ]) {
      assert.match(trial.output, part)
    }
    assert.equal(sumsIn(trial.output).length, 2)
    assert.equal(state(), before)
    assert.deepEqual(readdirSync(temporary), [])

    const made = release('minor')
    assert.equal(made.status, 0, made.output)
    assert.match(made.output, /^checked$/m)
    assert.deepEqual(sumsIn(made.output), sumsIn(trial.output))
    assert.equal(git('tag').trim(), 'v0.2.0')
    assert.equal(git('log', '--format=%s', '-1', 'v0.2.0').trim(), 'chore: release 0.2.0')
    assert.equal(git('rev-parse', 'HEAD'), git('rev-parse', 'v0.2.0^{commit}'))
    assert.equal(JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')).version, '0.2.0')
    assert.match(readFileSync(join(clone, 'CHANGELOG.md'), 'utf8'), /^## 0\.2\.0 - 2027-01-02$/m)
    assert.equal(git('status', '--porcelain'), '')
    for (const line of readFileSync(join(clone, 'release/SHA256SUMS'), 'utf8').trim().split('\n')) {
      const [sum, name] = line.split('  ')
      assert.equal(
        createHash('sha256')
          .update(readFileSync(join(clone, 'release', name)))
          .digest('hex'),
        sum,
      )
    }
    // What the workflow of the tag does.
    run(process.execPath, ['scripts/release/pack.mjs', '--tag=v0.2.0'], { cwd: clone })
    assert.deepEqual(sumsIn(readFileSync(join(clone, 'release/SHA256SUMS'), 'utf8')), sumsIn(made.output))
    assert.throws(
      () => run(process.execPath, ['scripts/release/pack.mjs', '--tag=v0.1.0'], { cwd: clone }),
      /is not that/,
    )
    const sbom = JSON.parse(readFileSync(join(clone, 'release/ventuno-0.2.0.cdx.json'), 'utf8'))
    assert.match(
      sbom.serialNumber,
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    assert.equal(sbom.metadata.component.purl, 'pkg:npm/ventuno@0.2.0')
    assert.deepEqual(sbom.components, [])
    assert.deepEqual(readdirSync(temporary), [])
  })

  test('is refused for a version that exists, without anything to say, and with changes', () => {
    const refused = (expected, ...words) => refusedWith({}, expected, ...words)
    const refusedWith = (env, expected, ...words) => {
      const before = state()
      const { output, status } = releaseWith(env, ...words)
      assert.equal(status, 1, output)
      assert.match(output, expected)
      assert.doesNotMatch(output, /\n {4}at /)
      assert.equal(state(), before)
      assert.deepEqual(readdirSync(temporary), [])
    }
    refused(/expected one of major, minor, patch and current/)
    refused(/expected one of major, minor, patch and current/, 'minor', 'patch')
    refused(/expected major, minor, patch or current, got big/, 'big')
    refused(/Unknown option '--dry'/, 'minor', '--dry')
    refused(/expected a date such as 2027-01-02, got 2027-02-30/, 'minor', '--dry-run', '--date=2027-02-30')
    refused(/--skip-checks is for --dry-run only/, 'minor', '--skip-checks')
    // `npm run release minor --dry-run`
    refusedWith({ npm_config_dry_run: 'true' }, /npm run release -- patch --dry-run/, 'minor')
    refused(/the tag v0\.2\.0 exists/, 'current', '--dry-run')
    refused(/the tag v0\.2\.0 exists/, 'current')
    refused(/nothing under "Unreleased"/, 'patch')
    writeFileSync(
      join(clone, 'CHANGELOG.md'),
      readFileSync(join(clone, 'CHANGELOG.md'), 'utf8').replace(
        '## Unreleased\n',
        '## Unreleased\n\n- More.\n',
      ),
    )
    git('commit', '--quiet', '--all', '--message', 'more')
    writeFileSync(join(home, 'red'), '')
    refused(/\.ci\/run failed/, 'patch')
    git('checkout', '--quiet', '-B', 'idea')
    refused(/the branch is idea, not main/, 'patch')
    git('checkout', '--quiet', '--detach')
    refused(/HEAD is on no branch, not main/, 'patch')
    git('tag', '--delete', 'v0.2.0')
    refused(/lines under "Unreleased", and a heading for 0\.2\.0/, 'current')
    writeFileSync(join(clone, 'README.md'), 'changed')
    writeFileSync(join(clone, 'docs/new.md'), 'new')
    refused(/changes that are not committed:\n ?M README\.md\n\?\? docs\/new\.md/, 'patch', '--dry-run')
  })
})
