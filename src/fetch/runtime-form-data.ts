/**
 * The runtime's `FormData` under our name. Looking at it on the global object, be it only at its descriptor, makes
 * the runtime load its own HTTP client, which then installs an agent of its own; so that importing the library
 * does neither, it is looked up when it is first used.
 */
import { FormEntries } from './form-entries.ts'

type FormDataClass = typeof globalThis.FormData

let loaded: FormDataClass | null = null

function load(): FormDataClass {
  const present = globalThis.FormData
  // Whoever made ours the global one before its first use has left no way to the runtime's.
  return present === FormData ? (FormEntries as unknown as FormDataClass) : present
}

function get(): FormDataClass {
  loaded ??= load()
  return loaded
}

// Of the `prototype` of a plain function a proxy may say something else; of that of a class it may not.
function Stand(): void {}

/** Stands for the runtime's class: constructs it, is extended like it, and has its static members. */
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
