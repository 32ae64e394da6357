/**
 * Classes of the runtime under our names. Reading one from the global object makes the runtime load its own
 * HTTP client, which then installs an agent of its own; so that importing the library does neither, each is
 * looked up when it is first used.
 */

type Name = 'Headers' | 'Request' | 'Response' | 'FormData'
type Constructor = abstract new (...args: never[]) => object

/** Stands for the class that `load` gives: constructs it, is extended like it, and has its static members. */
export function lazyClass<T extends Constructor>(load: () => T): T {
  let loaded: T | null = null
  const get = (): T => {
    loaded ??= load()
    return loaded
  }
  // Of the `prototype` of a plain function a proxy may say something else; of that of a class it may not.
  function Stand(): void {}
  const proxy: T = new Proxy(Stand as unknown as T, {
    construct: (_, args, newTarget) =>
      Reflect.construct(get(), args, newTarget === proxy ? get() : newTarget),
    get: (_, key) => Reflect.get(get(), key),
    has: (_, key) => Reflect.has(get(), key),
    getPrototypeOf: () => Reflect.getPrototypeOf(get()),
  })
  return proxy
}

/** The runtime's class of this name, looked up when it is first used. */
export function runtimeClass<N extends Name>(name: N): (typeof globalThis)[N] {
  return lazyClass(() => globalThis[name] as unknown as Constructor) as unknown as (typeof globalThis)[N]
}
