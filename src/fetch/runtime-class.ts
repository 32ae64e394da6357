/**
 * Classes of the runtime under our names. Reading one from the global object makes the runtime load its own
 * HTTP client, which then installs an agent of its own; so that importing the library does neither, they are
 * looked up when the first of them is used.
 */

const NAMES = ['Headers', 'Request', 'Response', 'FormData'] as const
type Name = (typeof NAMES)[number]
type Constructor = abstract new (...args: never[]) => object

/** Where the runtime's client keeps its agent: there as soon as it is loaded. */
const CLIENT_IS_LOADED = Symbol.for('undici.globalDispatcher.1')

/** Says of a class that it stands for the runtime's, also to another copy of the library; gives that if it is known. */
const STANDS_FOR = Symbol.for('ventuno.standsFor')

/** Taken when the library is loaded: whoever installs ours as the global one must not make it call itself. */
export const runtimeFetch: typeof globalThis.fetch = globalThis.fetch

const found = new Map<Name, Constructor>()

/**
 * Stands for the class that `load` gives, and with it for the runtime's of this name: constructs it, is extended like
 * it, and has its static members.
 */
export function lazyClass<T extends Constructor>(name: Name, load: () => T): T {
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
    get: (_, key) => (key === STANDS_FOR ? found.get(name) : Reflect.get(get(), key)),
    has: (_, key) => key === STANDS_FOR || Reflect.has(get(), key),
    getPrototypeOf: () => Reflect.getPrototypeOf(get()),
  })
  return proxy
}

/** Our class that stands for the runtime's of this name. */
export function runtimeClass<N extends Name>(name: N): (typeof globalThis)[N] {
  return lazyClass(name, () => ownClass(name) as unknown as Constructor) as unknown as (typeof globalThis)[N]
}

/** The runtime's own class, whatever the global object has under its name by now. */
export function ownClass<N extends Name>(name: N): (typeof globalThis)[N] {
  findClasses()
  const own = found.get(name)
  if (own === undefined) {
    throw new TypeError(`globalThis.${name} was replaced before the ${name} of the runtime could be found`)
  }
  return own as unknown as (typeof globalThis)[N]
}

/**
 * All at once: one is as good as all to have the client loaded, and whoever replaces the globals by hand mostly
 * replaces several.
 */
export function findClasses(): void {
  if (found.size === NAMES.length) return
  const made = classesMadeWhile(() => {
    for (const name of NAMES) keep(name, globalThis[name])
    // All were replaced, and the client is not loaded yet: its `fetch` loads it, and refuses to fetch nothing.
    if (found.size === 0) (runtimeFetch as () => Promise<unknown>)().catch(() => {})
  })
  for (const prototype of made) {
    const name = (prototype as Record<symbol, unknown>)[Symbol.toStringTag] as Name
    if (NAMES.includes(name)) keep(name, prototype.constructor)
  }
  const response = found.get('Response') as unknown as typeof globalThis.Response | undefined
  if (response !== undefined) keep('Headers', new response().headers.constructor)
}

/** One of ours, put in the place of the runtime's, may know that: so does that of another copy that was installed. */
function keep(name: Name, given: unknown): void {
  if (typeof given !== 'function' || found.has(name)) return
  const own = STANDS_FOR in given ? given[STANDS_FOR] : given
  if (typeof own === 'function') found.set(name, own as unknown as Constructor)
}

/**
 * What is given its members meanwhile. When the globals have been replaced there is no other way to the classes
 * of the client than to look on when it is loaded: it makes them with `Object.defineProperties`.
 */
function classesMadeWhile(load: () => void): object[] {
  const made: object[] = []
  const { defineProperties } = Object
  const watched = Reflect.set(
    Object,
    'defineProperties',
    (target: object, members: PropertyDescriptorMap) => {
      made.push(target)
      return defineProperties(target, members)
    },
  )
  try {
    load()
  } finally {
    if (watched) Object.defineProperties = defineProperties
  }
  return made
}

// Where the client is loaded anyway, to look at its classes changes nothing any more.
if (CLIENT_IS_LOADED in globalThis) findClasses()
