/** The web API for requests: our `fetch` and `Request`, and the runtime's own classes beside them. */
import { runtimeClass } from './runtime-class.ts'

export { fetch } from './fetch.ts'
export { getGlobalOrigin, setGlobalOrigin } from './global-origin.ts'
export { Request, type RequestInitWithDispatcher } from './request.ts'

export const Headers: typeof globalThis.Headers = runtimeClass('Headers')
export const Response: typeof globalThis.Response = runtimeClass('Response')
export const FormData: typeof globalThis.FormData = runtimeClass('FormData')
