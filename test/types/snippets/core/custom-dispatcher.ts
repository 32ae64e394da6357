import { Dispatcher, request } from 'undici'

export class Prefix extends Dispatcher {
  constructor(
    private readonly inner: Dispatcher,
    private readonly prefix: string,
  ) {
    super()
  }
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.inner.dispatch({ ...options, path: this.prefix + options.path }, handler)
  }
  close(): Promise<void>
  close(callback: () => void): void
  close(callback?: () => void): Promise<void> | void {
    return callback === undefined ? this.inner.close() : this.inner.close(callback)
  }
  destroy(): Promise<void>
  destroy(err: Error | null): Promise<void>
  destroy(callback: () => void): void
  destroy(err: Error | null, callback: () => void): void
  destroy(...args: unknown[]): Promise<void> | void {
    return this.inner.destroy(...(args as []))
  }
}
export const send = (inner: Dispatcher): Promise<Dispatcher.ResponseData> =>
  request('http://localhost/', { dispatcher: new Prefix(inner, '/v1') })
