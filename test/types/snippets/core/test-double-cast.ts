// One cast is enough where an object has a member of the type.
import type { Dispatcher } from 'undici'

export const double = {
  dispatch: (_options: Dispatcher.DispatchOptions, _handler: Dispatcher.DispatchHandler) => true,
} as Dispatcher
export const partial: Partial<Dispatcher> = { close: async () => {}, dispatch: () => false }
export const options = { path: '/' } as Dispatcher.DispatchOptions
export const data = { statusCode: 204 } as Dispatcher.ResponseData
