// A handler of a framework that takes and returns the runtime's classes, answered by the library.
import { Agent, fetch } from 'undici'

const dispatcher = new Agent()
type Handle = (request: globalThis.Request) => globalThis.Response | Promise<globalThis.Response>
export const proxy: Handle = async (request) => fetch(request.url, { method: request.method, dispatcher })
