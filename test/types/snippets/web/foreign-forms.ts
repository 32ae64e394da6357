// A form of another package, known by its members.
import type { Blob } from 'node:buffer'
import { FormData, fetch, request } from 'undici'

declare class OtherForm {
  append(name: string, value: unknown, fileName?: string): void
  set(name: string, value: unknown, fileName?: string): void
  get(name: string): string | null
  getAll(name: string): string[]
  has(name: string): boolean
  delete(name: string): void
  keys(): IterableIterator<string>
  values(): IterableIterator<string>
  entries(): IterableIterator<[string, string]>
  forEach(callback: (value: string, key: string, form: OtherForm) => void, thisArg?: unknown): void
  [Symbol.iterator](): IterableIterator<[string, string]>
  get [Symbol.toStringTag](): string
}
export const sent = (form: OtherForm, file: Blob): unknown[] => {
  const own = new FormData()
  for (const [name, value] of form) own.append(name, value)
  own.append('file', file, 'a.txt')
  return [
    fetch('http://localhost', { method: 'POST', body: own }),
    request('http://localhost', { method: 'POST', body: own }),
    fetch('http://localhost', { method: 'POST', body: form as unknown as FormData }),
  ]
}
