import { EventEmitter, once } from 'node:events'
import type { Client, Dispatcher } from 'undici'

const handler: Dispatcher.DispatchHandler = {
  onRequestStart(controller, context) {
    context.start = 1
    controller.rawHeaders
  },
  onResponseStart(_c, statusCode, headers) {
    const t: string | string[] | undefined = headers['content-type']
    console.log(statusCode, t)
  },
  onResponseData(_c, chunk) {
    chunk.toString('utf8')
  },
  onResponseEnd(_c, trailers) {
    console.log(trailers['x'])
  },
  onResponseError(_c, err) {
    console.error(err.message)
  },
  onBodySent(chunk) {
    chunk.length
  },
  onRequestSent() {},
  onResponseStarted() {},
}
export function collect(client: Client, path: string): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    let status = 0
    const chunks: Buffer[] = []
    client.dispatch(
      { path, method: 'GET', headers: ['a', 'b'], query: { a: 1, b: [true] } },
      {
        onResponseStart: (_, s) => {
          status = s
        },
        onResponseData: (_, c) => {
          chunks.push(c)
        },
        onResponseEnd: () => resolve({ status, body: Buffer.concat(chunks) }),
        onResponseError: (_, e) => reject(e),
      },
    )
  })
}
export const all = {
  ...handler,
  onResponseError: undefined as unknown as Dispatcher.DispatchHandler['onResponseError'],
}
export const s = handler satisfies Dispatcher.DispatchHandler
export async function events(c: Client) {
  const [origin] = await once(c, 'connect')
  c.on('disconnect', (o, targets, e) => console.log(o.href, targets.length, e.code))
  const l = (o: URL) => console.log(o)
  c.off('drain', l)
  c.removeListener('drain', l)
  c.prependOnceListener('connectionError', (_o, _t, e) => e.code)
  const emitter: EventEmitter = c
  const signal = new EventEmitter()
  await c.request({ path: '/', method: 'GET', signal })
  return [origin, emitter, c.closed, c.destroyed, c.stats]
}
