import { fetch, Request, Response } from 'undici'

export async function twice(response: Response): Promise<[string, Response]> {
  const copy: Response = response.clone()
  return [await copy.text(), response]
}
const fresh = new Request('http://a.test').clone()
export const text = fetch(fresh).then(twice)
export const rebuilt = async (response: Response): Promise<Response> =>
  new Response(response.body, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  })
