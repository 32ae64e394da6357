// Objects that stand for a dispatcher or a response in tests.
import { type Dispatcher, fetch, request } from 'undici'

const double = {
  dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    handler.onResponseError?.(null as unknown as Dispatcher.DispatchController, new Error('no'))
    return true
  },
} as unknown as Dispatcher
export const short = { dispatch: () => true } as unknown as Dispatcher
export const asked = (): Promise<unknown> => request('http://localhost', { dispatcher: double })
export const fetched = (): Promise<unknown> => fetch('http://localhost', { dispatcher: short })
export const response = {
  statusCode: 200,
  headers: {},
  body: { json: async () => ({}) },
} as unknown as Dispatcher.ResponseData
export const controller: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  rawHeaders: null,
  abort: (_reason: Error) => {},
  pause() {},
  resume() {},
}
