import { MockAgent } from 'undici'
import type { MockInterceptor, MockScope } from 'undici/types/mock-interceptor.js'

interface User {
  id: number
  name: string
}
const pool = new MockAgent().get('http://localhost')
const interceptor: MockInterceptor = pool.intercept({
  path: '/users',
  method: 'GET',
  headers: { accept: 'application/json' },
})
const scope: MockScope<User> = interceptor.reply<User>(200, { id: 1, name: 'a' }, { headers: { etag: '1' } })
scope.delay(10).times(2).persist()
interceptor.reply<User>(200, ({ path, method, body, headers }) => ({
  id: path.length,
  name: `${method}${String(body)}${String(headers)}`,
}))
interceptor.reply((options: MockInterceptor.MockResponseCallbackOptions) => ({
  statusCode: 200,
  data: { path: options.path },
  responseOptions: { headers: { a: '1' }, trailers: { b: '2' } },
}))
interceptor.replyContentLength().defaultReplyHeaders({ a: '1' }).defaultReplyTrailers({ b: '2' })
export const asText = interceptor.reply(200, (options) => `${options.path}`)
export const asBytes = interceptor.reply(200, Buffer.from('abc'))
