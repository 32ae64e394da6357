// The step of the build after esbuild: class names are those of the source, and nothing else changes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { esbuildMarks } from '../../scripts/esbuild-marks.mjs'

/** The code without what the step finds. */
function unmarked(code) {
  let result = ''
  let end = 0
  for (const mark of esbuildMarks(code)) {
    result += code.slice(end, mark.start)
    end = mark.end
  }
  return result + code.slice(end)
}

describe('what esbuild adds to a bundle', () => {
  test('the underscore in the name of a class that refers to itself is deleted with its references', () => {
    assert.equal(
      unmarked('var Client=class _Client{static of(){return new _Client}};'),
      'var Client=class Client{static of(){return new Client}};',
    )
  })

  test('a class whose name another one has gets its own name back', () => {
    assert.equal(
      unmarked('var Client2=class _Client{static of(){return _Client}};'),
      'var Client2=class Client{static of(){return Client}};',
    )
  })

  test('a class that would hide another one in itself stops the build', () => {
    assert.throws(
      () => esbuildMarks('var Client2=class _Client{static of(){return [_Client,Client]}};'),
      /class _Client uses another Client/,
    )
  })

  test('text that looks like such a name stays: strings, expressions, properties, other variables', () => {
    const inner =
      'static a="_Client";static b=/^[_Client]$/;static c=`_Client`;d(x){return x._Client}_Client(){}'
    const code = `var _Client=1,Client=class _Client{${inner}};var x=/_/,y={_Client};`
    assert.equal(unmarked(code), code.replace('class _Client', 'class Client'))
  })

  test('a line break within a string is deleted, an escaped backslash at the end of one is not', () => {
    assert.equal(unmarked('x("a\\\nb",`c\\\nd`,"e\\\\")\n;'), 'x("ab",`cd`,"e\\\\")\n;')
  })

  test('nothing changes in code without either', () => {
    for (const code of ['var A=class B{},x=/[^_]/,y="_A";', readFileSync(new URL(import.meta.url), 'utf8')]) {
      assert.equal(unmarked(code), code)
    }
  })
})

describe('the built package', () => {
  const require = createRequire(import.meta.url)
  const forms = [
    ['for bundlers', () => import('../../dist/esm/index.js')],
    ['for Node.js', () => require('../../dist/index.cjs')],
  ]

  for (const [form, load] of forms) {
    test(`${form}: cookie names may contain every character of a token`, async () => {
      const { getSetCookies, Headers, setCookie } = await load()
      const headers = new Headers()
      const names = ['session_id', '__Host-id', '__Secure-id', '_', "!#$%&'*+-.^_`|~09azAZ"]
      for (const name of names) setCookie(headers, { name, value: '1' })
      assert.deepEqual(
        getSetCookies(headers).map(({ name }) => name),
        names,
      )
    })

    test(`${form}: each class has the name under which it is exported`, async () => {
      const exports = await load()
      const classes = Object.entries({ ...exports, ...exports.cacheStores, ...exports.mockErrors }).filter(
        ([name, value]) => typeof value === 'function' && /^[A-Z]/.test(name),
      )
      assert.ok(classes.length > 30)
      for (const [name, { name: own }] of classes) assert.equal(own, name)
    })
  }
})
