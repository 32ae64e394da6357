import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { errors } from '../../src/index.ts'
import { ERROR_FACTS, errorFacts, isUpstreamFault } from '../../src/relay/error-facts.ts'

test('the table of faults in docs/errors.md is the one that the library uses', () => {
  const page = readFileSync('docs/errors.md', 'utf8')
  const rows = [
    ...page.matchAll(/^\| `([A-Z_0-9]+)` \| (caller|dispatcher|connection|origin) \|(.*?)\|(.*?)\|$/gm),
  ].map(([, code, fault, final, unsent]) => [code, fault, final!.trim() === 'yes', unsent!.trim() === 'yes'])
  assert.deepEqual(
    rows,
    [...ERROR_FACTS].map(([code, facts]) => [code, facts.fault, facts.isFinal, facts.isUnsent]),
  )
})

test('every error class of the library has a fault', () => {
  const missing = Object.values(errors)
    .map((ErrorClass) => {
      try {
        return new (ErrorClass as new () => { code?: string })().code
      } catch {
        return undefined
      }
    })
    .filter((code) => code?.startsWith('UND_ERR_') && !code.startsWith('UND_ERR_SOCKS5'))
    .filter((code) => !ERROR_FACTS.has(code!))
  assert.deepEqual(missing, [])
})

test('a value without a code of its own is the caller’s', () => {
  const polluted = Object.create({ code: 'ECONNRESET' }) as object
  const hostile = Object.defineProperty({}, 'code', {
    get() {
      throw new Error('never read')
    },
  })
  for (const value of [null, undefined, 'text', new Error('bye'), { code: 20 }, polluted, hostile]) {
    assert.equal(isUpstreamFault(value), false)
    assert.equal(errorFacts(value).isFinal, true)
  }
})

test('families of codes', () => {
  const fault = (code: string): string => errorFacts({ code }).fault
  assert.equal(fault('HPE_INVALID_CONSTANT'), 'origin')
  assert.equal(fault('Z_DATA_ERROR'), 'origin')
  assert.equal(fault('CERT_HAS_EXPIRED'), 'connection')
  assert.equal(fault('UND_ERR_SOCKS5_REPLY_5'), 'connection')
  assert.equal(fault('ERR_STREAM_PREMATURE_CLOSE'), 'caller')
})
