// Options of the runtime, passed to the library.
import { fetch, Request } from 'undici'

export const sent = (init: globalThis.RequestInit): unknown => fetch('http://a.test', init)
export const made = (init: globalThis.RequestInit): unknown => new Request('http://a.test', init)
