// Iterators of the runtime have helpers.
import { FormData, Headers } from 'undici'

const headers = new Headers({ a: 'b' })
export const names: string[] = headers
  .keys()
  .filter((name) => name.startsWith('x-'))
  .map((name) => name.slice(2))
  .toArray()
export const found: [string, string] | undefined = headers.entries().find(([name]) => name === 'a')
export const some: boolean = headers.values().some((value) => value === 'b')
export const first: string[] = [...new FormData().keys().take(1)]
