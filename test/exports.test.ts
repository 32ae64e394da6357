import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as library from '../src/index.ts'
import { UNDICI_EXPORTS } from './undici-exports.ts'

test('every export of undici is there', () => {
  assert.deepEqual(
    UNDICI_EXPORTS.filter((name) => !Object.hasOwn(library, name)),
    [],
  )
})
