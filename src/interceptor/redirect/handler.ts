/** `RedirectHandler`: follows redirects of one request, for programs that dispatch themselves. */
import { defineKind } from '../../base/object/kind.ts'
import { ownMembers } from '../../base/object/own-options.ts'
import type { Dispatch, OwnOrigin } from '../../dispatcher/compose.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import { checkedHandler } from '../../handler/legacy-handler.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { Dispatching } from '../../request/dispatching.ts'
import { withoutLimit } from './interceptor.ts'
import { readRedirectOptions } from './options.ts'
import { RedirectedRequest } from './redirected-request.ts'

/**
 * A handler for the first request, given as `opts`; it dispatches the others.
 *
 * @example
 * const dispatch = (opts, handler) => agent.dispatch(opts, handler)
 * dispatch(opts, new RedirectHandler(dispatch, 3, opts, handler))
 */
export class RedirectHandler extends ForwardingHandler {
  /** The dispatch function of a dispatcher, with redirects. */
  static buildDispatch(dispatcher: Dispatching, maxRedirections: number | null | undefined): Dispatch {
    readRedirectOptions({ maxRedirections })
    const dispatch: Dispatch = (opts, handler) => dispatcher.dispatch(opts, handler)
    const { composedOrigin } = dispatcher as { composedOrigin?: () => OwnOrigin }
    const own = composedOrigin?.call(dispatcher)
    return (given, handler) => {
      const opts = withoutLimit(given)
      return dispatch(opts, new RedirectHandler(dispatch, maxRedirections, opts, handler, own))
    }
  }

  constructor(
    dispatch: Dispatch,
    maxRedirections: number | null | undefined,
    opts: DispatchOptions,
    handler: DispatchHandler | LegacyDispatchHandler,
    own?: OwnOrigin,
  ) {
    const checked = checkedHandler(handler)
    const settings = readRedirectOptions({ ...ownMembers(opts), maxRedirections })
    const call = { opts: withoutLimit(opts), handler: checked, dispatch, own }
    super(new RedirectedRequest(call, settings).begin())
  }
}

defineKind(RedirectHandler, 'ventuno.RedirectHandler')
