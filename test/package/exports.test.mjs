// The list of undici's exports in the tests is that of the undici that is installed here, and `install()` sets the same
// globals.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const major = Number(process.versions.node.split('.')[0])
const skip = major < 22 ? 'undici 8 needs Node 22' : false
const ours = new URL('../../dist/index.js', import.meta.url).href

test('the list of exports is that of undici', { skip }, async () => {
  const undici = await import('undici')
  const names = Object.keys(undici).filter((name) => name !== 'default' && name !== 'module.exports')
  const source = readFileSync(fileURLToPath(new URL('../undici-exports.ts', import.meta.url)), 'utf8')
  const [, list] = /UNDICI_EXPORTS[^[]*\[\] = \[([^\]]*)\]/.exec(source)
  const listed = [...list.matchAll(/'(\w+)'/g)].map(([, name]) => name)
  assert.deepEqual(names.sort(), listed)
})

test('install() sets the globals that the install() of undici sets', { skip }, () => {
  const installedBy = (specifier) => {
    const program = `
      const { install } = await import(${JSON.stringify(specifier)})
      const read = () => new Map(Object.getOwnPropertyNames(globalThis).map((name) => [name, globalThis[name]]))
      const before = read()
      install()
      const changed = [...read()].filter(([name, value]) => !Object.is(before.get(name), value))
      console.log(changed.map(([name]) => name).sort().join())`
    const args = ['--no-warnings', '--input-type=module', '--eval', program]
    return execFileSync(process.execPath, args, { encoding: 'utf8', cwd: import.meta.dirname })
  }
  assert.equal(installedBy(ours), installedBy('undici'))
})
