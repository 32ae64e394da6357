// biome-ignore-all lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
/**
 * A `FormData` for programs that install ours as the global one before the runtime's was ever used: the
 * runtime's class is then out of reach. It has the same name as the class it replaces.
 */
import { Blob, File } from 'node:buffer'
import { requireArguments, toText, wellFormed } from '../../web/idl.ts'
import { defineInterface, defineIterator } from '../../web/interface.ts'

type Value = string | File
type Entry = [name: string, value: Value]

export class FormEntries {
  #entries: Entry[] = []

  constructor(form: unknown = undefined) {
    if (form !== undefined) {
      throw new TypeError('FormData constructor: Argument 1 could not be converted to one of: undefined.')
    }
  }

  append(name: string, value: unknown, fileName?: string): void {
    requireArguments(arguments.length, 2, 'FormData.append')
    this.#entries.push(entryOf('FormData.append', name, value, fileName))
  }

  set(name: string, value: unknown, fileName?: string): void {
    requireArguments(arguments.length, 2, 'FormData.set')
    const entry = entryOf('FormData.set', name, value, fileName)
    const at = this.#entries.findIndex(([present]) => present === entry[0])
    if (at === -1) this.#entries.push(entry)
    else this.#entries = this.#entries.filter(([present], index) => index <= at || present !== entry[0])
    if (at !== -1) this.#entries[at] = entry
  }

  delete(name: string): void {
    requireArguments(arguments.length, 1, 'FormData.delete')
    const unwanted = textOf('FormData.delete', name)
    this.#entries = this.#entries.filter(([present]) => present !== unwanted)
  }

  get(name: string): Value | null {
    return this.getAll(name)[0] ?? null
  }

  getAll(name: string): Value[] {
    requireArguments(arguments.length, 1, 'FormData.getAll')
    const wanted = textOf('FormData.getAll', name)
    return this.#entries.filter(([present]) => present === wanted).map(([, value]) => value)
  }

  has(name: string): boolean {
    return this.getAll(name).length > 0
  }

  *entries(): IterableIterator<Entry> {
    // By index: entries appended during the iteration are visited, too.
    for (let i = 0; i < this.#entries.length; i++) {
      const [name, value] = this.#entries[i]!
      yield [name, value]
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) yield name
  }

  *values(): IterableIterator<Value> {
    for (const [, value] of this.entries()) yield value
  }

  forEach(callback: (value: Value, name: string, form: this) => void, thisArgument?: unknown): void {
    for (const [name, value] of this.entries()) callback.call(thisArgument, value, name, this)
  }

  declare [Symbol.iterator]: () => IterableIterator<Entry>
}

const { entries } = FormEntries.prototype
defineIterator(FormEntries.prototype, entries)
defineInterface(FormEntries, 'FormData')

function textOf(where: string, value: unknown): string {
  return wellFormed(toText(value, where, 'value', 'USVString'))
}

function entryOf(where: string, name: unknown, value: unknown, fileName: string | undefined): Entry {
  const field = textOf(where, name)
  if (!(value instanceof Blob)) {
    if (fileName !== undefined) throw new TypeError(`${where}: parameter 2 is not of type 'Blob'.`)
    return [field, textOf(where, value)]
  }
  if (value instanceof File && fileName === undefined) return [field, value]
  const title = fileName === undefined ? 'blob' : textOf(where, fileName)
  return [field, new File([value], title, { type: value.type })]
}
