/** A promise with its two ends. */
export class Deferred<T = void> {
  declare resolve: (value: T | PromiseLike<T>) => void
  declare reject: (reason: unknown) => void
  readonly promise: Promise<T> = new Promise<T>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })
}
