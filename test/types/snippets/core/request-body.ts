import { request } from 'undici'

interface User {
  id: number
}
export async function read(): Promise<User> {
  const { statusCode, headers, body, trailers, opaque, context } = await request('http://localhost/users/1', {
    method: 'POST',
    headers: { accept: 'application/json', 'x-many': ['a', 'b'] },
    body: JSON.stringify({ a: 1 }),
    query: { page: 1 },
    signal: AbortSignal.timeout(100),
    headersTimeout: 10,
    bodyTimeout: null,
    responseHeaders: null,
  })
  const type: string | string[] | undefined = headers['content-type']
  console.log(statusCode, type, trailers.a, opaque, context)
  for await (const chunk of body) console.log(chunk.length)
  body.setEncoding('utf8')
  await body.dump({ limit: 10 })
  const text: string = await body.text()
  const bytes: Uint8Array = await body.bytes()
  const buffer: ArrayBuffer = await body.arrayBuffer()
  console.log(text, bytes, buffer, (await body.blob()).size, body.bodyUsed)
  return (await body.json()) as User
}
