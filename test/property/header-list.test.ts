/** `Headers` against a plain model: after any operations, a list has the contents that the standard requires. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { HeaderList } from '../../src/fetch/headers/header-list.ts'
import { makeHeaders } from '../../src/fetch/headers/headers.ts'
import { Headers } from '../../src/index.ts'

const RUNS = 500

/** Few names in several spellings, so that they meet. */
const NAMES = [
  'a',
  'A',
  'b',
  'X-Some',
  'x-some',
  'Set-Cookie',
  'set-cookie',
  'cookie',
  '__proto__',
  'constructor',
]
const name = fc.constantFrom(...NAMES)
/** Legal, with spaces around that are taken away. Not empty: the space after a comma would be taken away as well. */
const value = fc.stringMatching(/^[ \t]{0,2}[!-~][ -~]{0,6}[!-~][ \t]{0,2}$/)

type Step =
  | { readonly act: 'append' | 'set'; readonly name: string; readonly value: string }
  | { readonly act: 'delete'; readonly name: string }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constantFrom('append' as const, 'set' as const), name, value }),
  fc.record({ act: fc.constant('delete' as const), name }),
)

/** Names in lower case, each with its values in order. */
class Model {
  readonly #values = new Map<string, string[]>()

  apply(done: Step): void {
    const lower = done.name.toLowerCase()
    if (done.act === 'delete') this.#values.delete(lower)
    else if (done.act === 'set') this.#values.set(lower, [trimmed(done.value)])
    else this.#values.set(lower, [...(this.#values.get(lower) ?? []), trimmed(done.value)])
  }

  get(given: string): string | null {
    const lower = given.toLowerCase()
    return this.#values.get(lower)?.join(lower === 'cookie' ? '; ' : ', ') ?? null
  }

  getSetCookie(): string[] {
    return this.#values.get('set-cookie') ?? []
  }

  entries(): [string, string][] {
    const names = [...this.#values.keys()].sort()
    return names.flatMap((lower): [string, string][] =>
      lower === 'set-cookie'
        ? this.getSetCookie().map((cookie) => [lower, cookie])
        : [[lower, this.get(lower)!]],
    )
  }
}

function trimmed(text: string): string {
  return text.replace(/^[\t ]+|[\t ]+$/g, '')
}

function assertSame(headers: Headers, model: Model): void {
  for (const one of NAMES) {
    assert.equal(headers.get(one), model.get(one), one)
    assert.equal(headers.has(one), model.get(one) !== null, one)
  }
  assert.deepEqual(headers.getSetCookie(), model.getSetCookie())
  assert.deepEqual([...headers], model.entries())
  assert.deepEqual(
    [...headers.keys()],
    model.entries().map(([key]) => key),
  )
  assert.deepEqual(
    [...headers.values()],
    model.entries().map(([, one]) => one),
  )
}

describe('Headers', () => {
  test('holds what was appended, set and not deleted', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const headers = new Headers()
        const model = new Model()
        for (const done of steps) {
          if (done.act === 'delete') headers.delete(done.name)
          else headers[done.act](done.name, done.value)
          model.apply(done)
          assertSame(headers, model)
        }
        // Made anew from its entries, it is the same list.
        assertSame(new Headers([...headers]), model)
        assertSame(new Headers(headers), model)
      }),
      { numRuns: RUNS },
    )
  })

  test('a list that was received is what it came as, and stays so through writes to a copy', () => {
    const fields = fc.dictionary(
      fc.constantFrom('a', 'b', 'x-some', 'set-cookie', 'cookie', 'constructor'),
      fc.oneof(value.map(trimmed), fc.array(value.map(trimmed), { minLength: 1, maxLength: 3 })),
      { noNullPrototype: true },
    )
    fc.assert(
      fc.property(fields, fc.array(step, { maxLength: 8 }), (received, steps) => {
        const model = new Model()
        for (const [lower, given] of Object.entries(received)) {
          for (const one of [given].flat()) model.apply({ act: 'append', name: lower, value: one })
        }
        const list = new HeaderList(received)
        const headers = makeHeaders(list, 'immutable')
        const copy = makeHeaders(list.copy(), 'none')
        for (const done of steps) {
          if (done.act === 'delete') copy.delete(done.name)
          else copy[done.act](done.name, done.value)
          assert.throws(() => headers.delete(done.name), TypeError)
        }
        assertSame(headers, model)
        for (const done of steps) model.apply(done)
        assertSame(copy, model)
      }),
      { numRuns: RUNS },
    )
  })
})
