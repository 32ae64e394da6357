import { DecoratorHandler, type Dispatcher } from 'undici'

export class Log extends DecoratorHandler {
  readonly #handler: Dispatcher.DispatchHandler
  constructor(handler: Dispatcher.DispatchHandler) {
    super(handler)
    this.#handler = handler
  }
  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
    statusMessage?: string,
  ): void {
    console.log(statusCode, statusMessage)
    this.#handler.onResponseStart?.(controller, statusCode, headers, statusMessage)
  }
}
