// The request that every candidate and every tool sends.
const HEADERS = { 'user-agent': 'bench', accept: '*/*' }
const POST_HEADERS = { ...HEADERS, 'content-type': 'application/json' }

export function headersOf(method) {
  return method === 'POST' ? POST_HEADERS : HEADERS
}

const BODY_BYTES = 1024
const EMPTY = JSON.stringify({ id: 21, name: 'bench', text: '' })

/** 1 KB of JSON. */
export const JSON_BODY = JSON.stringify({
  id: 21,
  name: 'bench',
  text: 'x'.repeat(BODY_BYTES - EMPTY.length),
})
