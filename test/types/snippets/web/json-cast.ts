import { fetch, Response } from 'undici'

interface User {
  id: number
  name: string
}
export async function user(): Promise<User> {
  const response = await fetch('http://a.test/user')
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
  return (await response.json()) as User
}
export const again: Response = Response.json({ a: 1 }, { status: 201, headers: { a: 'b' } })
export const elsewhere: Response = Response.redirect('http://a.test', 307)
export const failed: Response = Response.error()
