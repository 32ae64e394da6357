// A request of the runtime in the library's fetch.
import { Agent, fetch, type Response } from 'undici'

const dispatcher = new Agent()
export const proxy = (request: globalThis.Request): Promise<Response> => fetch(request, { dispatcher })
