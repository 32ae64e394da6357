/**
 * Classes and functions whose code is loaded when they are first used: what few programs need is neither
 * compiled nor evaluated by the import of the package. The build puts them in place of the real ones
 * (`scripts/build-bundle.mjs`); the sources import those directly.
 *
 * Each is a `Proxy`, so that it can be exported before its class exists. Whatever a program does with it
 * loads the class: `new`, a call, `extends`, `instanceof`, a look at its members.
 */

import { atCaller } from './base/error/public-call.ts'

type Loaded = Readonly<Record<string, object>>
type Callable = (abstract new () => unknown) & ((...values: unknown[]) => unknown)

interface LateMember {
  readonly name: string
  readonly proxy: object
  /** Undefined until it is loaded. */
  real?: Callable
}

/** The exports of these names, all of them from the part that `load` returns. Some are plain objects. */
export function lateExports(
  names: readonly string[],
  load: () => Loaded,
  objects: readonly string[] = [],
): Record<string, unknown> {
  /**
   * By the targets of their proxies, which have the members of the real ones as soon as those are loaded, so
   * that what is seen of a proxy is consistent.
   */
  const members = new Map<object, LateMember>()
  let isLoaded = false

  function ensure(): void {
    if (isLoaded) return
    const loaded = load()
    isLoaded = true
    for (const [target, member] of members) become(target, member, loaded[member.name] as Callable)
    // A class of the part that extends another one shows that, not the class behind it.
    const proxies = new Map([...members.values()].map(({ real, proxy }) => [real, proxy]))
    for (const [target, { real }] of members) {
      const parent = Object.getPrototypeOf(real)
      Object.setPrototypeOf(target, proxies.get(parent) ?? parent)
    }
  }

  function memberOf(target: object): Required<LateMember> {
    ensure()
    return members.get(target) as Required<LateMember>
  }

  const after =
    <Values extends unknown[], Result>(operation: (...values: Values) => Result) =>
    (...values: Values): Result => {
      ensure()
      return operation(...values)
    }

  const traps: ProxyHandler<object> = {
    construct(target, values, newTarget) {
      const { real, proxy } = memberOf(target)
      try {
        return Reflect.construct(real, values, newTarget === proxy ? real : newTarget) as object
      } catch (error) {
        throw atCaller(error, traps.construct!)
      }
    },
    apply(target, receiver, values) {
      const { real } = memberOf(target)
      try {
        return Reflect.apply(real, receiver, values)
      } catch (error) {
        throw atCaller(error, traps.apply!)
      }
    },
    get: after(Reflect.get),
    set: after(Reflect.set),
    has: after(Reflect.has),
    deleteProperty: after(Reflect.deleteProperty),
    defineProperty: after(Reflect.defineProperty),
    getOwnPropertyDescriptor: after(Reflect.getOwnPropertyDescriptor),
    ownKeys: after(Reflect.ownKeys),
    getPrototypeOf: after(Reflect.getPrototypeOf),
    setPrototypeOf: after(Reflect.setPrototypeOf),
  }

  for (const name of names) {
    const target = targetOf(name, objects.includes(name))
    members.set(target, { name, proxy: new Proxy(target, traps) })
  }
  return Object.fromEntries([...members.values()].map(({ name, proxy }) => [name, proxy]))
}

/** Only an ordinary function can be called, constructed, and given another prototype. */
function targetOf(name: string, isObject: boolean): object {
  function target(): void {}
  return isObject ? {} : Object.defineProperty(target, 'name', { value: name })
}

function become(target: object, member: LateMember, real: Callable): void {
  member.real = real
  const { prototype, ...others } = Object.getOwnPropertyDescriptors(real as { prototype?: object })
  Object.defineProperties(target, others)
  if (prototype === undefined) return
  // It keeps being an own property that cannot be deleted, as with every class.
  Object.defineProperty(target, 'prototype', { ...prototype })
  if (prototype.value?.constructor !== real) return
  Object.defineProperty(prototype.value, 'constructor', { value: member.proxy })
}
