// A dispatcher around another, with all of its methods.
import { Dispatcher } from 'undici'

export class Wrapped extends Dispatcher {
  readonly inner: Dispatcher
  constructor(inner: Dispatcher) {
    super()
    this.inner = inner
    for (const name of ['connect', 'disconnect', 'connectionError'] as const) {
      inner.on(name as 'connect', (origin, targets) =>
        this.emit(name as 'connect', origin, [this, ...targets]),
      )
    }
    inner.on('drain', (origin) => void this.emit('drain', origin))
  }
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.inner.dispatch(
      { ...options, headers: { ...(options.headers as object), 'x-a': '1' } },
      handler,
    )
  }
  override close(): Promise<void>
  override close(callback: () => void): void
  override close(callback?: () => void): Promise<void> | void {
    return callback === undefined ? this.inner.close() : this.inner.close(callback)
  }
  override destroy(): Promise<void>
  override destroy(error: Error | null): Promise<void>
  override destroy(callback: () => void): void
  override destroy(error: Error | null, callback: () => void): void
  override destroy(error?: Error | null | (() => void), callback?: () => void): Promise<void> | void {
    if (typeof error === 'function') return this.inner.destroy(error)
    if (callback !== undefined) return this.inner.destroy(error ?? null, callback)
    return this.inner.destroy(error ?? null)
  }
}
