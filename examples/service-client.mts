// A client for a service, and its tests against mocks: `npx tsx examples/service-client.mts`.
import assert from 'node:assert/strict'
import { errors, type HttpProgress, http, MockAgent } from 'ventuno'

type User = { readonly id: number; readonly name: string }
type OnProgress = (progress: HttpProgress) => void

function usersService(dispatcher: MockAgent, bearer: () => Promise<string>) {
  const counts: Record<string, number> = {}
  const count = (what: number | 'retries') => {
    counts[what] = (counts[what] ?? 0) + 1
  }
  const api = http.extend({
    baseUrl: 'https://users.example/v1/',
    auth: { bearer },
    retry: { maxRetries: 2, minTimeout: 5 },
    timeout: { attempt: 2000, total: 10_000 },
    cache: true,
    circuitBreaker: { minRequests: 10, threshold: 0.6 },
    hooks: { afterResponse: ({ statusCode }) => count(statusCode), beforeRetry: () => count('retries') },
    dispatcher,
  })
  return {
    counts,
    user: (id: number) => api.get(`users/${id}`).json<User>(),
    add: (name: string) => api.post('users', { json: { name } }).json<User>(),
    pages: () => api.paginate<User[]>('users'),
    upload: (body: Buffer, onUploadProgress: OnProgress) => api.put('picture', { body, onUploadProgress }),
    download: (onDownloadProgress: OnProgress) => api.get('picture', { onDownloadProgress }).bytes(),
    close: () => api.close().then(() => dispatcher.close()),
  }
}

const agent = new MockAgent()
agent.disableNetConnect()
const mock = agent.get('https://users.example')
let tokens = 0
const service = usersService(agent, async () => `token-${++tokens}`)
const ada = { id: 1, name: 'Ada' }
mock.intercept({ path: '/v1/users/1', headers: { authorization: 'Bearer token-1' } }).reply(401, '')
mock.intercept({ path: '/v1/users/1' }).reply(503, '')
mock.intercept({ path: '/v1/users/1' }).reply(200, ada, { headers: { 'cache-control': 'public, max-age=9' } })
for (const _ of ['requested', 'cached']) assert.deepEqual(await service.user(1), ada)
mock.intercept({ path: '/v1/users', method: 'POST', body: '{"name":"Ada"}' }).reply(201, ada)
assert.deepEqual(await service.add('Ada'), ada)
mock.intercept({ path: '/v1/users' }).reply(200, [ada], { headers: { link: '<?page=2>; rel=next' } })
mock.intercept({ path: '/v1/users?page=2' }).reply(200, [])
for await (const page of service.pages()) assert.ok(page.length <= 1)
mock.intercept({ path: '/v1/picture', method: 'PUT' }).reply(200)
mock.intercept({ path: '/v1/picture' }).reply(200, Buffer.alloc(9))
const progress: number[] = []
await service.upload(Buffer.alloc(5), ({ transferred }) => progress.push(transferred))
await service.download(({ transferred }) => progress.push(transferred))
assert.deepEqual([progress, tokens, service.counts], [[5, 9], 2, { 200: 6, 201: 1, retries: 1 }])
mock.intercept({ path: '/v1/users/2' }).reply(500, '').times(40)
const fail = () => service.user(2).catch((error: unknown) => error)
while (!((await fail()) instanceof errors.CircuitOpenError)) assert.ok((service.counts[500] ?? 0) < 40)
await service.close()
