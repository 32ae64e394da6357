// Writes `types/`, the names of undici's folder of that name, since programs import from its files. Each file
// re-exports from `dist/`; it exists as a declaration of an ES module and of a CommonJS module, as the importer needs.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../types', import.meta.url))

/** What each file exports of the package. */
const FILES = {
  agent: 'Agent as default',
  api: 'connect, pipeline, request, stream, upgrade',
  'balanced-pool': 'BalancedPool as default',
  cache: 'Cache, CacheQueryOptions, CacheStorage, caches, MultiCacheQueryOptions',
  'client-stats': 'ClientStats as default',
  client: 'Client, Client as default',
  connector: 'buildConnector as default',
  'content-type': 'MIMEType, parseMIMEType, serializeAMimeType',
  cookies: 'Cookie, deleteCookie, getCookies, getSetCookies, parseCookie, setCookie',
  'diagnostics-channel': 'DiagnosticsChannel',
  dispatcher: 'Dispatcher as default, HeadersInput as UndiciHeaders',
  'dispatcher1-wrapper': 'Dispatcher1Wrapper as default',
  'env-http-proxy-agent': 'EnvHttpProxyAgent as default',
  errors: 'errors as default',
  eventsource: 'EventSource, EventSourceEventMap, EventSourceInit',
  fetch:
    'BodyInit, fetch, Headers, HeadersInit, ReferrerPolicy, Request, RequestCache, RequestCredentials, RequestDestination, RequestDuplex, RequestInfo, RequestInit, RequestMode, RequestRedirect, Response, ResponseInit, ResponseRedirectStatus, ResponseType',
  formdata: 'FormData, FormDataEntryValue',
  'global-dispatcher': 'getGlobalDispatcher, setGlobalDispatcher',
  'global-origin': 'getGlobalOrigin, setGlobalOrigin',
  'h2c-client': 'H2CClient, H2CClient as default',
  handlers: 'DecoratorHandler, RedirectHandler',
  header: 'HeaderObject as IncomingHttpHeaders',
  interceptors: 'interceptors as default',
  'mock-agent': 'MockAgent as default',
  'mock-call-history': 'MockCallHistory, MockCallHistoryLog',
  'mock-client': 'MockClient as default',
  'mock-errors': 'mockErrors as default',
  'mock-interceptor': 'Interceptable, MockInterceptor, MockScope',
  'mock-pool': 'MockPool as default',
  'pool-stats': 'PoolStats as default',
  pool: 'Pool as default',
  'proxy-agent': 'ProxyAgent as default',
  readable: 'BodyReadable as default',
  'retry-agent': 'RetryAgent as default',
  'retry-handler': 'RetryHandler as default',
  'round-robin-pool': 'RoundRobinPool as default',
  'snapshot-agent': 'SnapshotAgent, SnapshotRecorder',
  'socks5-proxy-agent': 'Socks5ProxyAgent as default',
  util: 'util',
  websocket:
    'BinaryType, CloseEvent, CloseEventInit, ErrorEvent, ErrorEventInit, MessageEvent, MessageEventInit, ping, WebSocket, WebSocketCloseInfo, WebSocketError, WebSocketEventMap, WebSocketInit, WebSocketStream, WebSocketStreamOptions',
}

/** Beside that, names for which the package itself has no use. */
const MORE = {
  header: `export type OutgoingHttpHeaders = Record<string, string | number | string[] | undefined>;
export type HeaderRecord = Record<string, string>;
`,
  'cache-interceptor': `import type { CacheControlDirectives, CacheGetResult, CacheKey, CacheMethods, CacheOptions, CacheStore, CacheValue, MemoryCacheStoreOptions, SqliteCacheStoreOptions } from '../dist/index.cjs';
import type { MemoryCacheStore } from '../dist/cache/store/memory-store.cjs';
import type { SqliteCacheStore } from '../dist/cache/store/sqlite-store.cjs';
declare namespace CacheHandler {
    export { CacheControlDirectives, CacheGetResult as GetResult, CacheKey, CacheMethods, CacheOptions, CacheStore, CacheValue, MemoryCacheStore, MemoryCacheStoreOptions as MemoryCacheStoreOpts, SqliteCacheStore, SqliteCacheStoreOptions as SqliteCacheStoreOpts };
}
export default CacheHandler;
`,
  utility: `export type Autocomplete<T extends string> = T | (string & Record<never, never>);
`,
  index: `export * from '../dist/index.cjs';
`,
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
const names = new Set([...Object.keys(FILES), ...Object.keys(MORE)])
for (const name of names) {
  const exported = name in FILES ? `export { ${FILES[name]} } from '../dist/index.cjs';\n` : ''
  for (const kind of ['ts', 'cts'])
    writeFileSync(`${folder}/${name}.d.${kind}`, exported + (MORE[name] ?? ''))
}
console.log(`types: ${names.size} files of each kind`)
