/**
 * The runtime's `FormData` under our name. Reading it from the global object, even just its descriptor, makes
 * the runtime load its built-in HTTP client, which then installs an agent. To avoid both at import, the class
 * is looked up on first use.
 */
import type * as declared from '../declared-classes.ts'
import { FormEntries } from './form-entries.ts'

type FormDataClass = typeof declared.FormData

interface Loaded {
  readonly runtime: FormDataClass
  /**
   * The prototype of our forms. It inherits from the runtime's, but its `constructor` is ours.
   */
  readonly prototype: object
}

let loaded: Loaded | null = null

function get(): Loaded {
  if (loaded !== null) return loaded
  const present = globalThis.FormData as unknown as FormDataClass
  // If our class was made the global one before its first use, the runtime's class is out of reach.
  const runtime = present === FormData ? (FormEntries as unknown as FormDataClass) : present
  const prototype = Object.create(runtime.prototype) as object
  Object.defineProperty(prototype, 'constructor', { value: FormData, writable: true, configurable: true })
  loaded = { runtime, prototype }
  return loaded
}

/** The runtime's forms count as ours. A subclass gets the ordinary check. */
function hasInstance(this: unknown, value: unknown): boolean {
  if (this === FormData) return value instanceof get().runtime
  return Reflect.apply(Function.prototype[Symbol.hasInstance], this, [value])
}

function member(key: PropertyKey): unknown {
  switch (key) {
    case 'prototype':
      return get().prototype
    case Symbol.hasInstance:
      return hasInstance
    // Runtimes differ; Web IDL requires no argument.
    case 'length':
      return 0
    default:
      return Reflect.get(get().runtime, key)
  }
}

// A proxy may report a different `prototype` for a plain function, but not for a class.
function Stand(): void {}

/** Acts as the runtime's class: constructs it, can be extended like it, and has its static members. */
export const FormData: FormDataClass = new Proxy(Stand as unknown as FormDataClass, {
  apply: (_, __, args) => Reflect.apply(get().runtime as unknown as () => unknown, undefined, args),
  construct: (_, args, newTarget) => Reflect.construct(get().runtime, args, newTarget),
  get: (_, key) => member(key),
  has: (_, key) => Reflect.has(get().runtime, key),
  getPrototypeOf: () => Reflect.getPrototypeOf(get().runtime),
})

/** The runtime's `FormData`. */
export type FormData = declared.FormData
