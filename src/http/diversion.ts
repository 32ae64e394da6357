/**
 * Redirects and codings concern few responses, and an interceptor in the way of each request costs a third of
 * it. So a response that needs them goes through their interceptors only when its head has come: what they send
 * below first is that response, and everything after it a request of its own.
 */
import type { Dispatch, Interceptor } from '../dispatcher/compose.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { Head } from '../relay/response-source.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import type { OwnOrigin } from '../request/logical-origin.ts'

/** Innermost first. */
export interface OuterLayers {
  readonly decompress: Interceptor | null
  readonly redirect: Interceptor | null
}

/** The interceptors that this response needs; null for most. */
export function neededFor(
  statusCode: number,
  headers: HeaderObject,
  { decompress, redirect }: OuterLayers,
): readonly Interceptor[] | null {
  const isRedirect =
    redirect !== null && statusCode >= 300 && statusCode < 400 && headers['location'] !== undefined
  const isCoded = decompress !== null && headers['content-encoding'] !== undefined
  if (!isRedirect && !isCoded) return null
  // What a redirect leads to may be coded, and the other way round.
  return [decompress, redirect].filter((layer) => layer !== null)
}

export interface Arrived {
  readonly controller: DispatchController
  readonly context: unknown
  readonly head: Head
}

/**
 * Sends the request through the layers to `handler`. Returns what gets the rest of the response that has
 * arrived.
 */
export function divert(
  layers: readonly Interceptor[],
  own: OwnOrigin,
  below: Dispatching,
  opts: DispatchOptions,
  handler: DispatchHandler,
  { controller, context, head }: Arrived,
): DispatchHandler {
  let rest: DispatchHandler | null = null
  let dispatch: Dispatch = (sent, inner) => {
    if (rest !== null) return below.dispatch(sent, inner)
    rest = inner
    inner.onRequestStart?.(controller, context)
    inner.onResponseStart?.(controller, head.statusCode, head.headers, head.statusText ?? '')
    return true
  }
  for (const layer of layers) dispatch = layer(dispatch, own)
  dispatch(opts, handler)
  return rest ?? handler
}
