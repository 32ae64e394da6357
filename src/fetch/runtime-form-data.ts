/**
 * The runtime's `FormData` under our name. Reading it from the global object, even just its descriptor, makes the
 * runtime load its built-in HTTP client, which then installs an agent. To avoid both at import, the class is looked
 * up on first use.
 */
import { FormEntries } from './form-entries.ts'

type FormDataClass = typeof globalThis.FormData

let loaded: FormDataClass | null = null

function load(): FormDataClass {
  const present = globalThis.FormData
  // If our class was made the global one before its first use, the runtime's class is out of reach.
  return present === FormData ? (FormEntries as unknown as FormDataClass) : present
}

function get(): FormDataClass {
  loaded ??= load()
  return loaded
}

// A proxy may report a different `prototype` for a plain function, but not for a class.
function Stand(): void {}

/** Acts as the runtime's class: constructs it, can be extended like it, and has its static members. */
export const FormData: FormDataClass = new Proxy(Stand as unknown as FormDataClass, {
  apply: (_, __, args) => Reflect.apply(get() as unknown as () => unknown, undefined, args),
  construct: (_, args, newTarget) =>
    Reflect.construct(get(), args, newTarget === FormData ? get() : newTarget),
  get: (_, key) => Reflect.get(get(), key),
  has: (_, key) => Reflect.has(get(), key),
  getPrototypeOf: () => Reflect.getPrototypeOf(get()),
})

/** The runtime's `FormData`. */
export type FormData = globalThis.FormData
