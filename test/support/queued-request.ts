/** A request as a connection gets it: checked, queued, and without a dispatcher behind it. */
import type { DispatchOptions } from '../../src/index.ts'
import { Request } from '../../src/request/request.ts'
import { FieldsMemory } from '../../src/request/request-fields.ts'
import { RecordingHandler } from './recording-handler.ts'

export function queued(handler = new RecordingHandler(), options: Partial<DispatchOptions> = {}): Request {
  const host = { onRequestAborted() {}, onRequestResumed() {}, onHandlerError() {} }
  const setting = {
    origin: 'http://a.test',
    protocol: 'http:',
    fields: new FieldsMemory(),
    maxResponseSize: -1,
  } as const
  const request = new Request({ path: '/', method: 'GET', ...options }, handler, setting, host)
  request.announceQueued()
  return request
}
