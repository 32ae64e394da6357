/** `interceptors.metrics`: measures requests under the names of OpenTelemetry's conventions for HTTP. */
import { inCall } from '../../base/error/public-call.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { originOf } from '../../relay/origin-key.ts'
import { watcherOf, withWatcher } from '../../relay/request-watcher.ts'
import { isCall } from '../../request/dispatching.ts'
import { MeasuredRequest } from './measured-request.ts'
import { type MetricsOptions, readMetricsOptions } from './options.ts'

/**
 * An interceptor that measures requests with the instruments of a meter. It counts what passes: outside of
 * `retry` calls, inside of it attempts.
 *
 * @example
 * const agent = new Agent().compose(interceptors.metrics({ meter: metrics.getMeter('http') }))
 */
export function metrics(options: MetricsOptions): Interceptor {
  const settings = inCall(metrics, () => readMetricsOptions(options))
  return ownInterceptor((dispatch, own) => (opts, handler) => {
    if (!isCall(opts, handler)) return dispatch(opts, handler)
    const series = settings.table.of(originOf(opts, own), opts.method)
    const hasBody = opts.body !== undefined && opts.body !== null
    const measured = new MeasuredRequest(handler, settings, series, hasBody, watcherOf(opts))
    try {
      return dispatch(withWatcher(opts, measured), measured)
    } catch (error) {
      measured.onThrown(error)
      throw error
    }
  })
}
