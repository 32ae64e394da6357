/** `fetch`: reads its arguments and starts the run. Everything from the call to `dispatch` is synchronous. */
import { orAbortError } from '../base/abort/abort-error.ts'
import { abortedReason } from '../base/abort/signal.ts'
import { verifiedBody } from './body/verified-body.ts'
import type { Fetch, RequestInput, RequestSettings } from './declared-classes.ts'
import type { RequestRecord } from './init.ts'
import { readRequest } from './request.ts'
import { makeResponse, type Response } from './response.ts'
import { Caller } from './run/caller.ts'
import { FetchRun } from './run/fetch-run.ts'
import { fetchScheme } from './url/scheme-fetch.ts'

/**
 * Fetches a resource as the WHATWG Fetch standard says. The request is sent by `init.dispatcher`, else by the
 * dispatcher of the `Request`, else by the global dispatcher.
 *
 * @example
 * const response = await fetch('https://example.com', { dispatcher: agent })
 * console.log(response.status, await response.text())
 */
export const fetch: Fetch = function fetch(
  input: RequestInput,
  init: RequestSettings | null | undefined = undefined,
): Promise<Response> {
  let record: RequestRecord
  try {
    record = readRequest(input, init)
  } catch (error) {
    return Promise.reject(error)
  }
  if (!record.url.isHttp) return fetchLocally(record)
  return new Promise<Response>((resolve, reject) => {
    new FetchRun(record, callerOf(resolve, reject), null).start()
  })
}

/** Apart, because a bundler gives a function that refers to itself another name. */
function callerOf(resolve: (response: Response) => void, reject: (error: unknown) => void): Caller {
  return new Caller(resolve, reject, fetch)
}

async function fetchLocally(record: RequestRecord): Promise<Response> {
  const aborted = record.signal === null ? null : abortedReason(record.signal)
  if (aborted !== null) throw orAbortError(aborted.reason)
  try {
    const answer = fetchScheme(record)
    const content = record.method === 'HEAD' ? null : answer.body
    const isTrusted = record.integrity === ''
    const body = isTrusted ? content : await verifiedBody(content, record.integrity)
    return makeResponse({ ...answer, body })
  } catch (cause) {
    throw new TypeError('fetch failed', { cause })
  }
}
