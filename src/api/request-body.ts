/**
 * What the API does with the caller's request body when the request never gets as far as sending it.
 */
import { ignoreError } from '../base/ignore-error.ts'

interface DestroyableStream {
  on(event: 'error', listener: () => void): unknown
  pipe(...args: unknown[]): unknown
  destroy(error?: unknown): unknown
  readonly destroyed?: boolean
  readonly httpVersion?: unknown
}

function isDestroyableStream(body: unknown): body is DestroyableStream {
  if (typeof body !== 'object' || body === null) return false
  const candidate = body as Partial<DestroyableStream>
  return (
    typeof candidate.pipe === 'function' &&
    typeof candidate.on === 'function' &&
    typeof candidate.destroy === 'function'
  )
}

/**
 * Destroys a Node stream with the error that ended its request; the error is reported to the caller of the
 * request, so the stream must not crash the process with it as well. Nor may it keep it from him by what it throws, nor a getter of the options.
 */
export function destroyRequestBody(
  opts: { readonly body?: unknown } | null | undefined,
  error: unknown,
): void {
  try {
    const body = opts?.body
    if (!isDestroyableStream(body) || body.destroyed === true) return
    body.on('error', ignoreError)
    // An incoming message takes its socket with it, and a proxy still has to answer on that socket.
    if (typeof body.httpVersion === 'string') return
    body.destroy(error)
  } catch {
    // The caller has a reason already.
  }
}
