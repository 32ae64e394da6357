// A handler class of a program.
import { Agent, type Dispatcher } from 'undici'

class Collect implements Dispatcher.DispatchHandler {
  readonly chunks: Buffer[] = []
  onRequestStart(_controller: Dispatcher.DispatchController, _context: unknown): void {}
  onResponseStart(
    _controller: Dispatcher.DispatchController,
    _statusCode: number,
    headers: Record<string, string | string[] | undefined>,
    _statusMessage?: string,
  ): void {
    console.log(headers.server)
  }
  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk)
  }
  onResponseEnd(
    _controller: Dispatcher.DispatchController,
    _trailers: Record<string, string | string[] | undefined>,
  ): void {}
  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    console.error(error)
  }
}
export const accepted: boolean = new Agent().dispatch(
  { origin: 'http://localhost', path: '/', method: 'GET' },
  new Collect(),
)
