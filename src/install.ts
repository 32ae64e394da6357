/**
 * Owns `install()`: makes the web classes global, for programs that use them without an import. Nothing else
 * in the package touches a global, and nothing does so at import.
 */
import { EventSource } from './event-source/event-source.ts'
import { fetch } from './fetch/fetch.ts'
import { FormData } from './fetch/form/runtime-form-data.ts'
import { Headers } from './fetch/headers/headers.ts'
import { Request } from './fetch/request.ts'
import { Response } from './fetch/response.ts'
import { CloseEvent, ErrorEvent, MessageEvent } from './web/events.ts'
import { WebSocket } from './websocket/websocket.ts'

/**
 * Makes `fetch`, `Headers`, `Request`, `Response`, `FormData`, `WebSocket`, `CloseEvent`, `ErrorEvent`,
 * `MessageEvent` and `EventSource` of this package the global ones.
 *
 * @example
 * install()
 * const response = await globalThis.fetch('http://localhost:3000/')
 */
export function install(): void {
  // Resolves the runtime's class, on which ours is built, before its global is replaced.
  void FormData.prototype
  Object.assign(globalThis, {
    fetch,
    Headers,
    Request,
    Response,
    FormData,
    WebSocket,
    CloseEvent,
    ErrorEvent,
    MessageEvent,
    EventSource,
  })
}
