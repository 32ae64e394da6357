import { errors } from 'undici'

export function attempts(error: unknown): number {
  if (!(error instanceof errors.RequestRetryError)) return 0
  const count: number = error.data.count
  const status: number = error.statusCode
  const headers: Record<string, string | string[]> = error.headers
  return count + status + Object.keys(headers).length
}
