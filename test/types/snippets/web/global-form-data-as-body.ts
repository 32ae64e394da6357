// A form of the runtime as the body of the library's fetch.
import { fetch, Request, Response } from 'undici'

export const send = (form: globalThis.FormData): unknown[] => [
  fetch('http://a.test', { method: 'POST', body: form }),
  new Request('http://a.test', { method: 'POST', body: form }),
  new Response(form),
]
