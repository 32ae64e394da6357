/** Gives a class the shape that Web IDL requires of an interface. */
import type { InspectOptions } from 'node:util'
import { loadUtil } from '../base/node/lazy-modules.ts'
import { defineKind } from '../base/object/kind.ts'

/** `util.inspect.custom`, by its documented name. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

interface Interface {
  readonly name: string
  readonly prototype: object
}

/** Makes members enumerable, gives objects a tag, and registers the class under its name. */
export function defineInterface(declared: Interface, name: string): void {
  showMembers(declared.prototype, ['constructor'])
  showMembers(declared, ['length', 'name', 'prototype'])
  setTag(declared.prototype, name)
  defineKind(declared, `ventuno.${name}`)
}

function showMembers(owner: object, hidden: readonly string[]): void {
  for (const name of Object.getOwnPropertyNames(owner)) {
    if (!hidden.includes(name)) Object.defineProperty(owner, name, { enumerable: true })
  }
}

/** Sets the class name that `Object.prototype.toString` shows. */
export function setTag(prototype: object, name: string): void {
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true })
}

/** Defines constants on an interface and on its objects. */
export function defineConstants(declared: Interface, constants: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(constants)) {
    Object.defineProperty(declared, name, { value, enumerable: true })
    Object.defineProperty(declared.prototype, name, { value, enumerable: true })
  }
}

/** Defines read-only attributes. `valuesOf` throws for an object of another class. */
export function defineAttributes<T extends object>(
  prototype: object,
  names: readonly (keyof T & string)[],
  valuesOf: (object: object) => T,
): void {
  for (const name of names) {
    defineMembers(prototype, {
      get [name](): unknown {
        return valuesOf(this)[name]
      },
    })
  }
}

/** Copies methods and accessors, which keep the names that they have in an object literal. */
export function defineMembers(prototype: object, members: object): void {
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(members))
}

/** Makes this method the iterator of the objects. */
export function defineIterator(prototype: object, method: unknown): void {
  Object.defineProperty(prototype, Symbol.iterator, { value: method, writable: true, configurable: true })
}

/** For `process.ref` and `process.unref`: whether the object keeps the process running. */
export function defineReferencing<T extends object>(
  prototype: T,
  setReferenced: (object: T, on: boolean) => void,
): void {
  for (const [name, on] of [['nodejs.ref', true] as const, ['nodejs.unref', false] as const]) {
    Object.defineProperty(prototype, Symbol.for(name), {
      value(this: T): void {
        setReferenced(this, on)
      },
    })
  }
}

/** Sets the output of `console.log` for a class whose members are getters. */
export function showInspected(prototype: object, name: string, membersOf: (object: object) => object): void {
  Object.defineProperty(prototype, INSPECT, {
    value(this: object, depth: number, options: InspectOptions): string {
      return `${name} ${loadUtil().inspect(membersOf(this), { ...options, depth })}`
    },
    writable: true,
    configurable: true,
  })
}
