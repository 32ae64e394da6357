// An object that has what the code under test reads.
import type { Headers, Response } from 'undici'

export const partial = { ok: true, status: 200, json: async () => ({ a: 1 }) } as Response
export const picked: Pick<Response, 'ok' | 'status' | 'text'> = {
  ok: true,
  status: 200,
  text: async () => '',
}
export const overridden = (real: Response): Partial<Response> => ({ ...real, status: 404 })
export const headers = { get: (name: string) => name } as unknown as Headers
