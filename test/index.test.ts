import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { describe, test } from 'node:test'
import ventuno, * as named from '../src/index.ts'
import { sourceLoader, sourceUrl } from './support/sources.ts'

describe('the public surface', () => {
  test('the default export holds the same names as the named exports', () => {
    const names = Object.keys(named).filter((name) => name !== 'default')
    assert.deepEqual(Object.keys(ventuno).sort(), names.sort())
    for (const name of names) {
      assert.equal(
        (ventuno as unknown as Record<string, unknown>)[name],
        (named as unknown as Record<string, unknown>)[name],
        name,
      )
    }
  })

  test('has the classes, the connector, the errors and the cookie helpers', () => {
    for (const name of [
      'Client',
      'H2CClient',
      'Dispatcher',
      'DecoratorHandler',
      'buildConnector',
      'deleteCookie',
      'getCookies',
      'getSetCookies',
      'parseCookie',
      'setCookie',
    ]) {
      assert.equal(typeof (named as unknown as Record<string, unknown>)[name], 'function', name)
    }
    assert.equal(typeof named.errors.UndiciError, 'function')
    const client = new named.Client('http://localhost')
    assert.ok(client instanceof named.Dispatcher)
    assert.ok(client instanceof EventEmitter)
    for (const method of [
      'close',
      'destroy',
      'connect',
      'dispatch',
      'pipeline',
      'request',
      'stream',
      'upgrade',
      'compose',
    ] as const) {
      assert.equal(typeof client[method], 'function', method)
    }
  })

  test('importing changes no global, and lets the process end', () => {
    const library = sourceUrl('src/index.ts')
    const script = `
      const keys = () => Reflect.ownKeys(globalThis).map(String).sort().join()
      const prototypes = () => [Object, Array, Function, Promise, Error]
        .map((one) => Reflect.ownKeys(one.prototype).map(String).join()).join('|')
      const [before, beforePrototypes] = [keys(), prototypes()]
      const fetchBefore = globalThis.fetch
      await import(${JSON.stringify(library)})
      console.log(before === keys(), beforePrototypes === prototypes(), fetchBefore === globalThis.fetch)`
    const { stdout, stderr, status } = spawnSync(process.execPath, evaluating(script), { encoding: 'utf8' })
    assert.equal(stdout.trim(), 'true true true', stderr)
    assert.equal(status, 0)
  })
})

/** The arguments with which a runtime runs a module with this text; those other than Node read TypeScript themselves. */
function evaluating(script: string): string[] {
  if (process.versions['bun'] !== undefined) return ['-e', script]
  if (process.versions['deno'] !== undefined) return ['eval', script]
  return [...sourceLoader, '--input-type=module', '-e', script]
}
