// A session: the next request sends back the cookie that the server has set.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { Agent, fetch, getCookies, getSetCookies, setCookie } from 'ventuno'

const server = http.createServer((request, response) => {
  const { session } = getCookies(new Headers({ cookie: request.headers.cookie ?? '' }))
  const headers = new Headers()
  if (session === undefined) setCookie(headers, { name: 'session', value: 'abc', httpOnly: true, path: '/' })
  response.setHeaders(headers)
  response.end(session === undefined ? 'hello, stranger' : `hello again, ${session}`)
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const url = `http://localhost:${server.address().port}/`
const dispatcher = new Agent()

const first = await fetch(url, { dispatcher })
const cookies = getSetCookies(first.headers)
console.log(await first.text(), cookies)
assert.deepEqual(cookies, [{ name: 'session', value: 'abc', httpOnly: true, path: '/' }])

const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
const second = await fetch(url, { dispatcher, headers: { cookie } })
const text = await second.text()
console.log(text)
assert.equal(text, 'hello again, abc')

await dispatcher.close()
server.close()
