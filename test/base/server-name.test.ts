import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { serverNameOf } from '../../src/base/server-name.ts'

describe('serverNameOf: the name for SNI', () => {
  for (const [host, expected] of [
    ['example.com', 'example.com'],
    ['example.com:8443', 'example.com'],
    ['localhost', 'localhost'],
    ['127.0.0.1', ''],
    ['127.0.0.1:443', ''],
    ['[::1]', ''],
    ['[::1]:443', ''],
    ['[::1', ''],
    ['', ''],
  ] as const) {
    test(`${JSON.stringify(host)} gives ${JSON.stringify(expected)}`, () => {
      assert.equal(serverNameOf(host), expected)
    })
  }
})
