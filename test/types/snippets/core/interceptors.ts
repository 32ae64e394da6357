import { Agent, cacheStores, interceptors } from 'undici'

export const agent = new Agent().compose([
  interceptors.redirect({ maxRedirections: 5, throwOnMaxRedirect: true }),
  interceptors.retry({ maxRetries: 1 }),
  interceptors.dump({ maxSize: 1024 }),
  interceptors.responseError(),
  interceptors.decompress(),
  interceptors.dns({ maxTTL: 10, maxItems: 5, dualStack: true, affinity: 4 }),
  interceptors.cache({
    store: new cacheStores.MemoryCacheStore({ maxCount: 10 }),
    methods: ['GET'],
    cacheByDefault: 5,
    type: 'shared',
  }),
  interceptors.deduplicate(),
])
export const request = agent.request({ origin: 'http://localhost', path: '/', method: 'GET' })
