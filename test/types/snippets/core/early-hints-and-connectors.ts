import type tls from 'node:tls'
import { Agent, buildConnector, type Client, type Dispatcher, type interceptors, Pool, request } from 'undici'
export const tlsAgent = (o: tls.ConnectionOptions) => new Agent({ connect: o })
export const secure = (o: tls.SecureContextOptions & { rejectUnauthorized?: boolean }) =>
  new Pool('https://x', { connect: { ...o, servername: 'x' } })
export const hints = request('http://x', {
  onInfo: ({ statusCode, headers }) => {
    const l: string | string[] | undefined = headers['link']
    console.log(statusCode, l)
  },
})
export const hints2 = (
  c: Client,
  onInfo: (i: { statusCode: number; headers: Record<string, string | string[]> }) => void,
) => c.request({ path: '/', method: 'GET', onInfo })
export const wrapped =
  (inner: buildConnector.connector): buildConnector.connector =>
  (o, cb) =>
    inner({ ...o, hostname: o.hostname.toLowerCase() }, (...args) => cb(...args))
export const pass: Client.Options['connect'] = wrapped(buildConnector({}))
export const t: buildConnector.connector = (opts, cb) => {
  if (opts.port === '') opts.port = '443'
  cb(new Error(opts.host ?? opts.hostname), null)
}
export const opts: Parameters<typeof interceptors.dns>[0] = { affinity: 4, dualStack: true }
export const disp = {
  dispatch: (o: Dispatcher.DispatchOptions, h: Dispatcher.DispatchHandler) =>
    new Agent().dispatch({ ...o, origin: 'http://x' }, h),
} satisfies Pick<Dispatcher, 'dispatch'>
export const ctx: Dispatcher.DispatchHandler = {
  onRequestStart(_c, context) {
    context.history?.push(1)
  },
}
export const rd = async (d: Dispatcher) => {
  const { context, trailers, opaque } = await d.request({ path: '/', method: 'GET', opaque: 5 })
  const c: object = context
  const t: string = trailers['a'] ?? ''
  const n: number = opaque
  return [c, t, n]
}
