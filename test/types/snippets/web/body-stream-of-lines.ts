import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fetch } from 'undici'

export async function* lines(url: string): AsyncGenerator<string> {
  const response = await fetch(url)
  if (!response.body) return
  yield* createInterface({ input: Readable.fromWeb(response.body) })
}
