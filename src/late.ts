/**
 * Classes and functions whose code is loaded when they are first used: what few programs need is neither
 * compiled nor evaluated by the import of the package. The build puts them in place of the real ones
 * (`scripts/build-bundle.mjs`); the sources import those directly.
 *
 * Each is a `Proxy`, so that it can be exported before its class exists. Whatever a program does with it
 * loads the class: `new`, a call, `extends`, `instanceof`, a look at its members.
 */

type Loaded = Readonly<Record<string, object>>
type Callable = abstract new () => unknown

/** The exports of these names, all of them from the part that `load` returns. Some are plain objects. */
export function lateExports(
  names: readonly string[],
  load: () => Loaded,
  objects: readonly string[] = [],
): Record<string, unknown> {
  let isLoaded = false
  const members = names.map((name) => new LateMember(name, objects.includes(name), ensure))
  function ensure(): void {
    if (isLoaded) return
    const loaded = load()
    isLoaded = true
    for (const member of members) member.become(loaded[member.name] as object)
    // A class of the part that extends another one shows that, not the class behind it.
    const proxies = new Map(members.map(({ real, proxy }) => [real, proxy]))
    for (const { real, target } of members) {
      const parent = Object.getPrototypeOf(real)
      Object.setPrototypeOf(target, proxies.get(parent) ?? parent)
    }
  }
  return Object.fromEntries(members.map(({ name, proxy }) => [name, proxy]))
}

class LateMember {
  readonly name: string
  readonly proxy: object
  /** Has the members of the real one as soon as that is loaded, so that what is seen of the proxy is consistent. */
  readonly target: object
  real: object = Object

  constructor(name: string, isObject: boolean, ensure: () => void) {
    this.name = name
    // Only an ordinary function can be called, constructed, and given another prototype.
    function target(): void {}
    this.target = isObject ? {} : Object.defineProperty(target, 'name', { value: name })
    this.proxy = new Proxy(this.target, this.#traps(ensure))
  }

  become(real: object): void {
    this.real = real
    const { prototype, ...members } = Object.getOwnPropertyDescriptors(real as { prototype?: object })
    Object.defineProperties(this.target, members)
    if (prototype === undefined) return
    // It keeps being an own property that cannot be deleted, as with every class.
    Object.defineProperty(this.target, 'prototype', { ...prototype })
    if (prototype.value?.constructor !== real) return
    Object.defineProperty(prototype.value, 'constructor', { value: this.proxy })
  }

  #traps(ensure: () => void): ProxyHandler<object> {
    const proxy = () => this.proxy
    const real = () => {
      ensure()
      return this.real as Callable & ((...values: unknown[]) => unknown)
    }
    const after =
      <Values extends unknown[], Result>(operation: (...values: Values) => Result) =>
      (...values: Values): Result => {
        ensure()
        return operation(...values)
      }
    return {
      construct(_, values, newTarget) {
        const realClass = real()
        return Reflect.construct(realClass, values, newTarget === proxy() ? realClass : newTarget) as object
      },
      apply: (_, receiver, values) => Reflect.apply(real(), receiver, values),
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
  }
}
