import { Agent, type Dispatcher, RedirectHandler } from 'undici'

const agent = new Agent()
export class Follow extends RedirectHandler {
  onResponseEnd(
    controller: Dispatcher.DispatchController,
    trailers: Record<string, string | string[] | undefined>,
  ): void {
    console.log(controller.aborted, trailers.a)
  }
}
const opts: Dispatcher.DispatchOptions = { origin: 'http://localhost', path: '/', method: 'GET' }
export const handler: Dispatcher.DispatchHandler = new RedirectHandler(
  (o, h) => agent.dispatch(o, h),
  3,
  opts,
  {},
)
