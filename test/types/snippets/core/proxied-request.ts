import type { IncomingMessage, IncomingHttpHeaders as NodeHeaders, OutgoingHttpHeaders } from 'node:http'
import { type Dispatcher, request } from 'undici'
export const proxy = async (req: IncomingMessage, res: import('node:http').ServerResponse) => {
  const { statusCode, headers, body, trailers } = await request('http://up', {
    method: req.method as Dispatcher.HttpMethod,
    headers: req.headers,
    body: req,
  })
  res.writeHead(statusCode, headers)
  res.setHeaders(
    new Map(Object.entries(headers).filter((e): e is [string, string] => typeof e[1] === 'string')),
  )
  body.pipe(res)
  res.addTrailers(trailers)
  const ct: string | undefined = headers['content-type']?.toString()
  const sc: string[] | undefined = headers['set-cookie'] as string[] | undefined
  const n: NodeHeaders = headers as NodeHeaders
  const o: OutgoingHttpHeaders = headers
  const len = Number(headers['content-length'] ?? 0)
  return {
    ct,
    sc,
    n,
    o,
    len,
    loc: headers.location,
    arr: Array.isArray(headers['x']) ? headers['x'].join() : headers['x'],
  }
}
export const raw = request('x', {
  responseHeaders: 'raw',
  onInfo: ({ statusCode, headers }) => console.log(statusCode, headers['link']),
  highWaterMark: 1,
  blocking: true,
  reset: true,
  expectContinue: true,
  idempotent: true,
  typeOfService: 1,
  throwOnError: true,
} as Parameters<typeof request>[1])
