// `npm run compare-undici`: nothing of the undici that the library follows is missing, and what is new in another
// version is found.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import ts from 'typescript'
import { differences, KNOWN, reasonFor } from '../../scripts/undici-differences.mjs'
import { root } from './packed.mjs'

const followed = join(root, 'test/package/node_modules/undici')

function compare(named) {
  return differences({
    ts,
    named,
    followed,
    ours: join(root, 'src/index.ts'),
    typeRoots: [join(root, 'node_modules/@types')],
  })
}

describe('beside undici', () => {
  test('all of the followed version is there, or is absent for a reason', () => {
    const found = compare(followed)
    for (const kind of ['exports', 'types', 'options']) {
      const { count, missing } = found[kind]
      assert.ok(count > 90, `only ${count} ${kind} were found`)
      assert.deepEqual(
        missing.filter((name) => reasonFor(name) === undefined),
        [],
      )
    }
    assert.deepEqual(found.changed, [])
    const missing = [...found.exports.missing, ...found.types.missing, ...found.options.missing]
    for (const [pattern] of KNOWN)
      assert.ok(
        missing.some((name) => pattern.test(name)),
        `${pattern} is obsolete`,
      )
    const { undici } = JSON.parse(readFileSync(join(root, 'bench/package.json'), 'utf8')).dependencies
    assert.equal(JSON.parse(readFileSync(join(followed, 'package.json'), 'utf8')).version, undici)
  })

  test('what a newer version adds or changes is named', (t) => {
    const named = mkdtempSync(join(followed, '..', '.newer-'))
    t.after(() => rmSync(named, { recursive: true, force: true }))
    cpSync(followed, named, { recursive: true })
    const edit = (file, from, to) => {
      const text = readFileSync(join(named, file), 'utf8')
      assert.ok(text.includes(from), file)
      writeFileSync(join(named, file), text.replace(from, to))
    }
    // The compiler takes packages of the same version for the same.
    edit(
      'package.json',
      /"version": ".*"/.exec(readFileSync(join(named, 'package.json'), 'utf8'))[0],
      '"version": "999.0.0"',
    )
    edit('index.js', 'module.exports.Client = Client', '$&\nmodule.exports.H3Client = Client')
    edit(
      'types/interceptors.d.ts',
      'export type DumpInterceptorOpts',
      'export type TeaInterceptorOpts = { cups?: number }\n  $&',
    )
    edit(
      'types/interceptors.d.ts',
      'export function dump',
      'export function tea (): Dispatcher.DispatcherComposeInterceptor\n  $&',
    )
    edit(
      'types/client.d.ts',
      'maxHeaderSize?: number;',
      'maxHeaderSize?: number | string;\n    maxCups?: number;',
    )
    const { exports, types, options, changed } = compare(named)
    assert.deepEqual(exports.missing, ['H3Client', 'interceptors.tea'])
    assert.ok(types.missing.includes('interceptors.TeaInterceptorOpts'))
    assert.ok(options.missing.includes('Client.Options.maxCups'))
    assert.ok(!options.missing.includes('interceptors.TeaInterceptorOpts.cups'))
    assert.ok(
      changed.some(([name, type]) => name === 'Client.Options.maxHeaderSize' && /string/.test(type)),
      String(changed),
    )
  })
})
