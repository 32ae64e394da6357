import { DecoratorHandler, type Dispatcher } from 'undici'

class Count extends DecoratorHandler {
  bytes = 0
  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.bytes > 1000) controller.abort(new Error('too long'))
  }
}
export const counting: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (opts, handler) =>
  dispatch(opts, new Count(handler))
