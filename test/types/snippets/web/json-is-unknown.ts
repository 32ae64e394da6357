import { fetch } from 'undici'

export async function name(): Promise<string> {
  const value = await (await fetch('http://a.test')).json()
  // @ts-expect-error The answer of a server has no type.
  return value.name
}
