// Handlers of a mocking library: the runtime's Request in, a response out.
import { fetch, Headers, type HeadersInit, Request, Response } from 'undici'

type Resolver = (info: {
  request: Request
  params: Record<string, string>
}) => Response | Promise<Response> | undefined
export const handlers: Resolver[] = [
  ({ request }) =>
    request.method === 'GET' ? Response.json({ id: 1 }, { status: 201, headers: { a: 'b' } }) : undefined,
  async ({ request }) => new Response(await request.clone().arrayBuffer(), { headers: request.headers }),
  ({ params }) => new Response(null, { status: 204, statusText: params['a'] ?? '' }),
]
export const passthrough = (request: Request): Promise<Response> => fetch(request)
export const made = (init: HeadersInit): Request => {
  const headers = new Headers(init)
  headers.append('x-a', '1')
  return new Request('http://localhost', { method: 'PUT', headers, body: JSON.stringify({}), duplex: 'half' })
}
