import { type Dispatcher, request } from 'undici'

export async function limited(url: string): Promise<string> {
  const { body, trailers, context } = await request(url, {
    headersTimeout: 1,
    bodyTimeout: null,
    highWaterMark: 10,
  })
  await body.dump({ limit: 10 })
  const fields: Record<string, string> = trailers
  const object: object = context
  return `${Object.keys(fields).length} ${typeof object} ${body.bodyUsed} ${body.readableFlowing}`
}
export const lines = async ({ body }: Dispatcher.ResponseData): Promise<number> => {
  let count = 0
  for await (const chunk of body) count += (chunk as Buffer).length
  return count
}
export const forms = ({ body }: Dispatcher.ResponseData): Promise<unknown>[] => [
  body.blob(),
  body.bytes(),
  body.arrayBuffer(),
]
