/** The state that several copies of the library share, and how they recognise each other's classes. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { defineKind, isInstance } from '../../../src/base/object/kind.ts'
import { copyUrl, sourceLoader } from '../../support/sources.ts'

/** A copy is the same module under another URL. */
function inProcess(script: string): unknown {
  const prelude = `
    const { shared: one } = await import(${JSON.stringify(copyUrl('src/base/object/shared.ts', 'one'))})
    const { shared: two } = await import(${JSON.stringify(copyUrl('src/base/object/shared.ts', 'two'))})
    const added = () => Reflect.ownKeys(globalThis).map(String).filter((name) => name.includes('ventuno'))
  `
  const words = [...sourceLoader, '--input-type=module', '-e', prelude + script]
  const cwd = new URL('../../..', import.meta.url)
  return JSON.parse(execFileSync(process.execPath, words, { cwd, encoding: 'utf8' }))
}

describe('shared()', () => {
  test('made once, when it is first asked for, for all copies', () => {
    const seen = inProcess(`
      let made = 0
      const [a, b] = [one, two].map((shared) => shared('x', () => ({ made: ++made })))
      const before = added()
      console.log(JSON.stringify([one !== two, before, a() === b(), a() === a(), made, added()]))
    `)
    assert.deepEqual(seen, [true, [], true, true, 1, ['Symbol(ventuno.shared.1)']])
  })

  test('things of other names are other things', () => {
    const seen = inProcess(`
      console.log(JSON.stringify([one('x', () => 1)(), two('y', () => 2)(), two('x', () => 3)()]))
    `)
    assert.deepEqual(seen, [1, 2, 1])
  })

  test('where the global object is frozen each copy has its own, and keeps it', () => {
    const seen = inProcess(`
      Object.preventExtensions(globalThis)
      const [a, b] = [one, two].map((shared) => shared('x', () => ({})))
      console.log(JSON.stringify([a() === a(), b() === b(), a() === b()]))
    `)
    assert.deepEqual(seen, [true, true, false])
  })
})

describe('kinds', () => {
  /** As two copies of the library would define the same class. */
  const copy = () => {
    // biome-ignore lint/complexity/noStaticOnlyClass: objects of it are made
    class Kind {
      static [Symbol.hasInstance](value: unknown): boolean {
        // biome-ignore lint/complexity/noThisInStatic: what a subclass inherits is tested
        return isInstance(this, value)
      }
    }
    defineKind(Kind, 'ventuno.test.Kind')
    return Kind
  }

  test('an object of one copy is an instance of the class of the other', () => {
    const [One, Two] = [copy(), copy()]
    assert.ok(new One() instanceof Two)
    assert.ok(!((class {} as unknown) instanceof Two))
    for (const value of [null, undefined, 1, 'x', {}, One, Object.create(null)]) {
      assert.ok(!((value as unknown) instanceof Two))
    }
  })

  test('a subclass asks the prototypes', () => {
    const [One, Two] = [copy(), copy()]
    class Sub extends Two {}
    assert.ok(new Sub() instanceof One && new Sub() instanceof Sub)
    assert.ok(!(new One() instanceof Sub))
  })
})
