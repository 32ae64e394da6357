/** The iterators of `Headers` and `FormData`, with the helpers that the runtime has from Node 22 on. */

/**
 * An iterator of the runtime. The helpers are declared here, since the compiler knows them only with its
 * newest library, and other declarations of the web classes have them, too.
 */
export interface WebIterator<T> {
  next(...value: [] | [unknown]): IteratorResult<T, undefined>
  [Symbol.iterator](): WebIterator<T>
  map<U>(callback: (value: T, index: number) => U): WebIterator<U>
  filter<S extends T>(predicate: (value: T, index: number) => value is S): WebIterator<S>
  filter(predicate: (value: T, index: number) => unknown): WebIterator<T>
  take(limit: number): WebIterator<T>
  drop(count: number): WebIterator<T>
  flatMap<U>(callback: (value: T, index: number) => Iterator<U> | Iterable<U>): WebIterator<U>
  reduce(callback: (previous: T, value: T, index: number) => T): T
  reduce(callback: (previous: T, value: T, index: number) => T, initial: T): T
  reduce<U>(callback: (previous: U, value: T, index: number) => U, initial: U): U
  toArray(): T[]
  forEach(callback: (value: T, index: number) => void): void
  some(predicate: (value: T, index: number) => unknown): boolean
  every(predicate: (value: T, index: number) => unknown): boolean
  find<S extends T>(predicate: (value: T, index: number) => value is S): S | undefined
  find(predicate: (value: T, index: number) => unknown): T | undefined
  readonly [Symbol.toStringTag]: string
}
