// A handler and an options object of one library, dispatched on the other.
import { Agent, type Dispatcher } from 'undici'
import * as undici from 'undici8'

const handler: Dispatcher.DispatchHandler = {
  onRequestStart(controller) {
    if (controller.aborted) controller.abort(new Error('gone'))
  },
  onResponseStart(_controller, statusCode, headers) {
    console.log(statusCode, headers['content-type'])
  },
  onResponseData(controller, chunk) {
    if (chunk.length > 10) controller.pause()
  },
  onResponseEnd() {},
  onResponseError(_controller, error) {
    console.log(error.message)
  },
}
const options: undici.Dispatcher.DispatchOptions = { path: '/', method: 'GET', origin: 'http://localhost' }
new undici.Agent().dispatch({ path: '/', method: 'GET', origin: 'http://localhost' }, handler)
const other: undici.Dispatcher.DispatchHandler = handler
new Agent().dispatch(options, other)
