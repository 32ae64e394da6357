/** What hangs is a red line with its name, and the run ends; a test is not skipped without a reason. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs a test file with this text as `npm test` does, with limits in milliseconds. */
function runFile(t: TestContext, text: string, limits: string): { output: string; status: number | null } {
  const folder = mkdtempSync(join(tmpdir(), 'ventuno-limits-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'some.test.mjs')
  writeFileSync(file, `import { describe, test } from 'node:test'\n${text}`)
  const flags = ['--require=./scripts/without-test-hooks.cjs', '--test']
  const reporter = ['--test-reporter=./scripts/test-reporter.mjs', '--test-reporter-destination=stdout']
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, ...reporter, file], {
    cwd: root,
    env: { ...env, VENTUNO_TEST_LIMITS: limits },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { output: stdout + stderr, status }
}

describe('npm test', () => {
  test('gives up a test that hangs, and runs the next', (t) => {
    const { output, status } = runFile(
      t,
      `test('hangs', () => new Promise((resolve) => setTimeout(resolve, 10_000)))
       test('goes on', () => {})
       describe('a suite', () => { test('in it', () => new Promise((resolve) => setTimeout(resolve, 9_000))) })`,
      '500,3000',
    )
    assert.match(output, /✖ hangs .*\n.*test timed out after 500ms/)
    assert.match(output, /✔ goes on/)
    assert.match(output, /✖ in it .*\n.*test timed out after 500ms/)
    assert.equal(status, 1)
  })

  for (const [what, text] of [
    ['loops', `test('loops', () => { for (;;); })`],
    ['leaves something open', `test('is done', () => void setInterval(() => {}, 1000))`],
    [
      'has a process that does not end',
      `import { spawn } from 'node:child_process'
       test('spawns', () => void spawn(process.execPath, ['-e', 'setTimeout(() => {}, 30_000)'], { stdio: 'inherit' }))`,
    ],
  ] as const) {
    test(`ends a file that ${what}`, (t) => {
      const { output, status } = runFile(t, text, '60000,1000')
      assert.match(output, /✖ .*some\.test\.mjs took more than 1 s and was ended/)
      assert.equal(status, 1)
    })
  }

  test('leaves a test its own limit', (t) => {
    const { output, status } = runFile(
      t,
      `test('longer', { timeout: 10_000 }, () => new Promise((resolve) => setTimeout(resolve, 300)))`,
      '100,20000',
    )
    assert.match(output, /✔ longer/)
    assert.equal(status, 0)
  })

  test('asks for the reason of a test that is skipped', (t) => {
    const { output, status } = runFile(
      t,
      `test('silent', { skip: true }, () => {})
       test('silent as well', (t) => t.skip())
       test('with a reason', { skip: 'the moon is full' }, () => {})`,
      '60000,60000',
    )
    assert.match(output, /✖ skipped without a reason:\n {2}silent \(.*\)\n {2}silent as well \(.*\)\n$/)
    assert.equal(status, 1)
    for (const todo of ['true', `'later'`]) {
      const late = runFile(t, `test('x', { todo: ${todo} }, () => { throw new Error() })`, '60000,60000')
      assert.match(late.output, /✖ left to do:\n {2}x \(.*\)\n$/)
      assert.equal(late.status, 1)
    }
    const { status: good } = runFile(t, `test('x', { skip: 'the moon is full' }, () => {})`, '60000,60000')
    assert.equal(good, 0)
  })
})
