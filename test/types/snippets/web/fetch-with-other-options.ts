// Options and dispatchers of undici, passed to the library.
import { fetch, Request, Response } from 'undici'
import { Agent, type RequestInit as OtherInit } from 'undici8'

export const other = (init: OtherInit): unknown[] => [
  fetch('http://a.test', init),
  new Request('http://a.test', init),
  new Response(init.body ?? null, { headers: init.headers ?? {} }),
]
export const dispatched = fetch('http://a.test', { dispatcher: new Agent() })
