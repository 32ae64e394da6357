// The requests of the scenarios of real traffic: what a service sends, and no request the same as another. Each goes to
// another path with seven fields, of which four are new each time.

/** All paths of real traffic start with one of these: the server answers each with JSON, and fields that vary. */
export const REAL_PATH = '/api/'
export const ORDERS_PATH = '/orders/'

const FIXED = { 'user-agent': 'bench/1.0', accept: 'application/json', 'accept-language': 'en' }
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJiZW5jaCIsInNjb3BlIjoicmVhZCJ9.'

/** From 200 B to 4 KB, in an order without a pattern. Prime, so that bodies and other cycles do not keep step. */
const TEXTS = Array.from({ length: 61 }, (_, i) => {
  const length = 200 + ((i * 37) % 61) * 64
  return 'The quick brown fox jumps over the lazy dog. '
    .repeat(100)
    .slice('{"id":"0123456789abcdef","text":""}'.length, length)
})

/** Returns a function that makes the next request: `path`, `headers` and, for a POST, `body`. */
export function realTraffic(scenario) {
  // Not from 1: the ids of two runs should not be as short as the first ones.
  let count = Math.floor(Math.random() * 2 ** 40)
  return function nextRequest() {
    count++
    const id = count.toString(16).padStart(16, '0')
    const headers = {
      ...FIXED,
      authorization: `Bearer ${TOKEN}${id}`,
      'x-request-id': `${id.slice(0, 8)}-${id.slice(8, 12)}-4000-8000-${id.slice(4)}`,
      traceparent: `00-${id}${id}-${id}-01`,
      'x-tenant': `tenant-${count % 10_007}`,
    }
    const path = `${scenario.path}tenants/${count % 10_007}/orders/${id}?expand=items`
    if (scenario.method !== 'POST') return { path, headers, body: undefined }
    headers['content-type'] = 'application/json'
    return { path, headers, body: `{"id":"${id}","text":"${TEXTS[count % TEXTS.length]}"}` }
  }
}
