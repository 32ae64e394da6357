// Mocks as a test written for undici uses them: it must compile.
import { Readable } from 'node:stream'
import {
  type Interceptable,
  MockAgent,
  type MockCallHistory,
  type MockCallHistoryLog,
  MockClient,
  type MockInterceptor,
  MockPool,
  type MockScope,
  mockErrors,
  mockWire,
  SnapshotAgent,
  type SnapshotRecorder,
} from '../../src/index.ts'

export async function mocks(): Promise<void> {
  const options: MockAgent.Options = { connections: 1, enableCallHistory: true, ignoreTrailingSlash: true }
  const agent = new MockAgent(options)
  const pool: MockPool = agent.get('http://a.test')
  const client = agent.get<MockClient>(new URL('http://a.test'))
  const any: Interceptable = agent.get(/a/)
  agent.get((origin) => origin.length > 1).cleanMocks()
  const interceptor: MockInterceptor = pool.intercept({
    path: (path) => path.startsWith('/'),
    method: /^P/,
    body: { id: 1 },
    headers: { a: 'b', c: /d/, e: (value) => value.length > 1 },
    query: { page: 1 },
  })
  const scope: MockScope = interceptor.reply(200, { ok: true }, { headers: { a: 'b' }, trailers: { c: 'd' } })
  scope.delay(10).times(2).persist()
  interceptor.reply(200, ({ path, params }) => `${path}${params['id']}`)
  interceptor.reply(200, Readable.from([]))
  interceptor.reply(async ({ method }) => ({ statusCode: method === 'GET' ? 200 : 400, data: 'x' }))
  interceptor.defaultReplyHeaders({ a: 'b' }).defaultReplyTrailers({ a: 'b' }).replyContentLength()
  interceptor.replyWithError(new Error('x'))
  any.intercept({
    path: '/',
    headers: (headers) => headers['a'] === 'b',
    body: (body: string) => body === 'x',
  })
  client.intercept({ path: '/' }).reply(204)
  agent.intercept('GET http://a.test/:id').reply(200, ({ params }) => params)

  interceptor.replyRaw(['HTTP/1.1 200 OK', mockWire.wait(1), Buffer.from('x'), mockWire.reset()])
  interceptor.replyRaw(async function* ({ path }) {
    yield path
    yield mockWire.end()
  })
  interceptor.fault('stall-body').times(2)
  interceptor.replyUpgrade((socket, { headers }) => socket.end(headers?.['a']))
  interceptor.replyEvents(['a', { data: { b: 1 }, event: 'c', id: '1', retry: 5 }])

  agent.enableNetConnect('a.test')
  agent.disableNetConnect()
  const pending: MockAgent.PendingInterceptor[] = agent.pendingInterceptors()
  const formatter: MockAgent.PendingInterceptorsFormatter = { format: (list) => `${list.length}` }
  agent.assertNoPendingInterceptors({ pendingInterceptorsFormatter: formatter })
  const history: MockCallHistory | undefined = agent.enableCallHistory().getCallHistory()
  const logs: MockCallHistoryLog[] = history?.filterCalls({ method: 'GET' }, { operator: 'AND' }) ?? []
  const error = new mockErrors.MockNotMatchedError('x')
  console.log(pending.length, logs[0]?.fullUrl, error.code, error.nearest?.definedAt)
  new MockPool('http://a.test', { agent })
  new MockClient('http://a.test', { agent })

  const matched: MockInterceptor.Options = { path: '/' }
  const reply: MockInterceptor.MockReplyOptionsCallback = () => ({ statusCode: 200 })
  pool.intercept(matched).reply(reply)
  const criteria: MockCallHistory.FilterCallsObjectCriteria = { host: /a/ }
  history?.filterCalls(criteria)

  const settings: SnapshotAgent.Options = { mode: 'playback', snapshotPath: 'x.json', matchHeaders: ['a'] }
  const snapshots = new SnapshotAgent(settings)
  const recorder: SnapshotRecorder = snapshots.getRecorder()
  const all: SnapshotRecorder.Snapshot[] = recorder.getSnapshots()
  await snapshots.saveSnapshots('y.json')
  console.log(all[0]?.responses[0]?.statusCode, snapshots.getMode())

  // @ts-expect-error: a path is needed
  pool.intercept({ method: 'GET' })
  // @ts-expect-error: milliseconds are a number
  scope.delay('1')
  // @ts-expect-error: an agent is needed
  new MockPool('http://a.test', {})
}
