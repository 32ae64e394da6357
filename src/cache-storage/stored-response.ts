/**
 * A response in memory: its record and the bytes of its body. Each match gets a new `Response`, whose body is
 * copied when it is read, so that no reader can change what is stored.
 */
import { Body } from '../fetch/body/body.ts'
import type { PulledOrigin } from '../fetch/body/origin.ts'
import type { ResponseType } from '../fetch/declared-classes.ts'
import { HeaderList } from '../fetch/headers/header-list.ts'
import { fillHeaders } from '../fetch/headers/headers.ts'
import { makeResponse, type Response } from '../fetch/response.ts'

/** The members that responses of all classes have. */
export interface ResponseLike
  extends Pick<Response, 'url' | 'redirected' | 'status' | 'statusText' | 'bodyUsed' | 'arrayBuffer'> {
  readonly type: string
  readonly headers: { get(name: string): string | null }
  readonly body: { readonly locked: boolean } | null
}

/** Responses of the runtime and of other copies of the library count, too. */
export function isResponseLike(value: unknown): value is ResponseLike {
  if (typeof value !== 'object' || value === null) return false
  const { status, headers, arrayBuffer, [Symbol.toStringTag]: tag } = value as Record<PropertyKey, unknown>
  return (
    tag === 'Response' &&
    typeof status === 'number' &&
    typeof headers === 'object' &&
    headers !== null &&
    typeof arrayBuffer === 'function'
  )
}

/** Reads the whole body. Each call of the result returns a new response. */
export async function storedResponse(response: ResponseLike): Promise<() => Response> {
  const { url, redirected, status, statusText, body } = response
  const type = response.type as ResponseType
  const record = { type, url, redirected, status, statusText, guard: 'immutable' } as const
  const headers = new HeaderList()
  fillHeaders(headers, response.headers)
  const bytes = body === null ? null : new Uint8Array(await response.arrayBuffer())
  return () => makeResponse({ ...record, headers: headers.copy(), body: bytes && new Body(originOf(bytes)) })
}

function originOf(bytes: Uint8Array): PulledOrigin {
  return {
    length: bytes.length,
    async *chunks() {
      yield bytes
    },
  }
}
