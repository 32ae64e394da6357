import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { lateExports } from '../src/late.ts'

class Base {
  static readonly limit = 5
  #secret = 1
  readonly maker: unknown

  constructor() {
    this.maker = new.target
  }

  secret(): number {
    return this.#secret
  }
}
class Derived extends Base {}

function add(this: unknown, a: number, b: number): unknown[] {
  return [a + b, this]
}

type Exports = { Base: typeof Base; Derived: typeof Derived; add: typeof add }

/** The exports, and how often they were loaded. */
function late(): { exports: Exports; loads: () => number; real: Exports } {
  let loads = 0
  class Copy extends Base {}
  // Classes of its own each time, since loading changes `constructor`.
  class CopyOfDerived extends Copy {}
  const real = { Base: Copy, Derived: CopyOfDerived, add }
  const exports = lateExports(Object.keys(real), () => {
    loads++
    return real
  })
  return { exports: exports as Exports, loads: () => loads, real }
}

describe('late exports', () => {
  it('are loaded once, by the first use of any of them', () => {
    const { exports, loads } = late()
    assert.equal(typeof exports.Base, 'function')
    assert.match(inspect(exports), /Base: (Proxy\()?\[Function: Base\]/)
    assert.equal(loads(), 0)
    assert.equal(new exports.Base().secret(), 1)
    assert.deepEqual(exports.add.call('x', 1, 2), [3, 'x'])
    assert.equal(loads(), 1)
  })

  it('construct the real class, and subclasses of it', () => {
    const { exports, real } = late()
    class Own extends exports.Base {}
    const own = new Own()
    assert.equal(own.secret(), 1)
    assert.equal(own.maker, Own)
    assert.ok(own instanceof Own && own instanceof exports.Base && own instanceof real.Base)
    assert.ok(!(new exports.Base() instanceof Own))
    assert.equal(new exports.Base().maker, real.Base)
    assert.equal(new exports.Base().constructor, exports.Base)
    assert.throws(() => (exports.Base as unknown as () => void)(), TypeError)
  })

  it('show the members and the parent of the real class', () => {
    const { exports, real } = late()
    assert.equal(exports.Base.limit, 5)
    assert.ok('limit' in exports.Base)
    assert.equal(exports.Derived.prototype, real.Derived.prototype)
    assert.equal(Object.getPrototypeOf(exports.Derived), exports.Base)
    assert.equal(Object.getPrototypeOf(exports.add), Function.prototype)
    assert.deepEqual(Object.getOwnPropertyDescriptors(exports.add).length, {
      value: 2,
      writable: false,
      enumerable: false,
      configurable: true,
    })
    assert.deepEqual(Reflect.ownKeys(exports.Derived).sort(), Reflect.ownKeys(real.Derived).sort())
  })

  it('take members of their own', () => {
    const { exports, real } = late()
    const target = exports.Base as unknown as Record<string, unknown>
    target['own'] = 1
    assert.equal(target['own'], 1)
    assert.ok(!('own' in real.Base))
    delete target['own']
    Object.defineProperty(target, 'fixed', { value: 2 })
    assert.deepEqual([target['own'], target['fixed']], [undefined, 2])
    Object.setPrototypeOf(target, null)
    assert.equal(Object.getPrototypeOf(target), null)
  })

  it('may be plain objects', () => {
    const { tools } = lateExports(['tools'], () => ({ tools: { add } }), ['tools']) as {
      tools: { add: typeof add }
    }
    assert.equal(typeof tools, 'object')
    assert.deepEqual(Object.keys(tools), ['add'])
    assert.deepEqual(tools.add(1, 2), [3, tools])
  })

  it('fail as often as loading fails', () => {
    const fail = (): never => {
      throw new Error('not there')
    }
    const exports = lateExports(['Base'], fail) as Exports
    assert.throws(() => new exports.Base(), /not there/)
    assert.throws(() => new exports.Base(), /not there/)
  })
})
