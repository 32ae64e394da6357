/** Credentials are sent only where they belong, and never printed. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

const SECRETS = /s3cr3t|stephanie|c3RlcGhhbmllOnMzY3IzdA/

describe('CVE-2026-48615: credentials in errors, in debug output and in what is printed', () => {
  let said: string[] = []
  let debugOutput: string[] = []

  before(async () => {
    const script = fileURLToPath(sourceUrl('test/security/secret-requests.ts'))
    const { NODE_DEBUG: _, ...environment } = process.env
    const env = { ...environment, RUNTIME_DEBUG: 'core,fetch,websocket' }
    const options = { env, maxBuffer: 64 * 2 ** 20 }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...sourceLoader, script], options)
    said = JSON.parse(stdout) as string[]
    debugOutput = stderr.split('\n')
  })

  test('errors: message, stack, cause and every field; dispatchers and their statistics', () => {
    assert.ok(said.length > 500)
    assert.ok(said.some((text) => text.includes('other side closed')))
    assert.ok(said.some((text) => text.includes('ECONNREFUSED')))
    assert.ok(said.some((text) => text.includes('HPE_')))
    // The destination is printed: only secrets are omitted.
    assert.ok(said.some((text) => text.includes('http://elsewhere.test/path')))
    assert.ok(said.some((text) => text.includes('target.test:443')))
    for (const text of said) assert.doesNotMatch(text, SECRETS)
  })

  test('RUNTIME_DEBUG: no names, passwords or header fields', () => {
    const lines = debugOutput.filter((line) => /^(CORE|FETCH|WEBSOCKET) /.test(line))
    assert.ok(lines.length > 100)
    for (const line of lines) {
      // Debug output prints a request with its query, which is a secret in these requests.
      assert.doesNotMatch(line.replaceAll(/[?#](key=)?s3cr3t/g, ''), SECRETS)
    }
  })
})
