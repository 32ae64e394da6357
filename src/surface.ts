/** The public surface: every exported name, once. */

export type { ApiOptions, InfoCallback, InfoData } from './api/api-handler.ts'
export type { ConnectCallback, ConnectData, ConnectOptions } from './api/connect.ts'
export type { PipelineHandlerData, PipelineHandlerFunction, PipelineOptions } from './api/pipeline.ts'
export type {
  RawRequestOptions,
  RawResponseData,
  RequestCallback,
  RequestOptions,
  ResponseData,
} from './api/request.ts'
export type {
  StreamCallback,
  StreamData,
  StreamFactory,
  StreamFactoryData,
  StreamOptions,
} from './api/stream.ts'
export type { UpgradeCallback, UpgradeData, UpgradeOptions } from './api/upgrade.ts'
export { getGlobalOrigin, setGlobalOrigin } from './base/address/global-origin.ts'
export type { DumpOptions } from './body/dump.ts'
export type { BodyMixin, BodyReadable } from './body/readable.ts'
export type { CacheMethods, CacheOptions } from './cache/options.ts'
export type {
  CacheGetResult,
  CacheKey,
  CacheStore,
  CacheValue,
  StoredBody,
} from './cache/store/cache-store.ts'
export type { MemoryCacheStoreOptions } from './cache/store/memory-store.ts'
export type {
  IoRedisClient,
  KeyValueClient,
  NodeRedisClient,
  RedisClient,
} from './cache/store/redis-client.ts'
export type { RedisCacheStoreOptions } from './cache/store/redis-store.ts'
export type { SqliteCacheStoreOptions } from './cache/store/sqlite-store.ts'
export { cacheStores } from './cache/store/stores.ts'
export type { Cache, CacheQueryOptions } from './cache-storage/cache.ts'
export type { CacheStorage, MultiCacheQueryOptions } from './cache-storage/cache-storage.ts'
export { caches } from './cache-storage/cache-storage.ts'
export { deleteCookie, getCookies, getSetCookies, parseCookie, setCookie } from './cookies/api.ts'
export type { Cookie } from './cookies/cookie.ts'
export type { CookieFilter } from './cookies/jar/cookie-jar.ts'
export { CookieJar } from './cookies/jar/cookie-jar.ts'
export type { SerializedCookie, SerializedCookieJar } from './cookies/jar/json.ts'
export type { CookieContext, CookieJarOptions } from './cookies/jar/options.ts'
export type { JarCookie } from './cookies/jar/stored-cookie.ts'
export type { DiagnosticsChannel } from './diagnostics-messages.ts'
export type { AgentDispatchOptions, AgentFactory, AgentOptions } from './dispatcher/agent.ts'
export { Agent } from './dispatcher/agent.ts'
export type { ClientStats } from './dispatcher/client.ts'
export { Client } from './dispatcher/client.ts'
export type { ClientOptions, ConnectFunction } from './dispatcher/client-options.ts'
export type { Dispatch, Interceptor } from './dispatcher/compose.ts'
export type { CloseCallback, DispatcherEvents } from './dispatcher/dispatcher.ts'
export { Dispatcher } from './dispatcher/dispatcher.ts'
export type { DispatcherLike } from './dispatcher/dispatcher1-wrapper.ts'
export { Dispatcher1Wrapper } from './dispatcher/dispatcher1-wrapper.ts'
export type { EventSourceOptions } from './dispatcher/event-source-options.ts'
export type { H2CClientOptions, H2CConnectOptions } from './dispatcher/h2c-client.ts'
export { H2CClient } from './dispatcher/h2c-client.ts'
export type { Http2Options, Http2SettingsOptions } from './dispatcher/http2-options.ts'
export type { BalancedPoolOptions, UpstreamFactory } from './dispatcher/pool/balanced-pool.ts'
export { BalancedPool } from './dispatcher/pool/balanced-pool.ts'
export type { PoolFactory, PoolOptions } from './dispatcher/pool/options.ts'
export { Pool } from './dispatcher/pool/pool.ts'
export { RoundRobinPool } from './dispatcher/pool/round-robin-pool.ts'
export type { PoolStats } from './dispatcher/stats.ts'
export type { WebSocketOptions } from './dispatcher/websocket-options.ts'
export type {
  BlockedAddressDetails,
  ProxyErrorInfo,
  ProxyPhase,
  RequestErrorContext,
  RequestPhase,
  RetrySafety,
  SocketInfo,
  Timings,
} from './errors.ts'
export * as errors from './errors.ts'
export type {
  EventSourceEventMap,
  EventSourceInit,
  EventSourceNodeOptions,
} from './event-source/declared-event-source.ts'
export { EventSource } from './event-source/event-source.ts'
export type { EventIterator, EventsInit } from './event-source/events.ts'
export { events } from './event-source/events.ts'
export type { EventChunks, EventSourceInput, ParseEventsOptions } from './event-source/parse-events.ts'
export { parseEvents } from './event-source/parse-events.ts'
export type { ServerComment, ServerEvent } from './event-source/server-event.ts'
export type { StreamErrorEvent } from './event-source/stream-error-event.ts'
export type { EventStreamOptions, ReconnectMode, StreamHeaders } from './event-source/stream-options.ts'
export type {
  BodyInit,
  FormDataEntryValue,
  HeadersInit,
  RequestCache,
  RequestCredentials,
  RequestDestination,
  RequestDuplex,
  RequestInfo,
  RequestInit,
  RequestInitWithDispatcher,
  RequestMode,
  RequestRedirect,
  ResponseInit,
  ResponseRedirectStatus,
  ResponseType,
} from './fetch/declared-classes.ts'
export { fetch } from './fetch/fetch.ts'
export { FormData } from './fetch/form/runtime-form-data.ts'
export { Headers } from './fetch/headers/headers.ts'
export type { ReferrerPolicy } from './fetch/headers/referrer.ts'
export type { MIMEType } from './fetch/mime/mime-functions.ts'
export { parseMIMEType, serializeAMimeType } from './fetch/mime/mime-functions.ts'
export { Request } from './fetch/request.ts'
export { Response } from './fetch/response.ts'
export type { UrlInput, UrlParts, WithUrl } from './global/global-api.ts'
export { connect, pipeline, request, stream, upgrade } from './global/global-api.ts'
export { getGlobalDispatcher, setGlobalDispatcher } from './global/global-dispatcher.ts'
export type { GuardOptions, GuardPolicy, GuardTarget } from './guard/options.ts'
export { DecoratorHandler } from './handler/decorator-handler.ts'
export * as util from './handler/raw-headers.ts'
export { install } from './install.ts'
export type { CircuitBreakerOptions } from './interceptor/circuit-breaker/options.ts'
export type { CookieJarLike, CookiesOptions } from './interceptor/cookies/options.ts'
export type { DecompressOptions } from './interceptor/decompress/options.ts'
export type { DeduplicateMethods, DeduplicateOptions } from './interceptor/deduplicate/options.ts'
export type {
  DnsAddress,
  DnsLookup,
  DnsLookupOptions,
  DnsOptions,
  DnsPick,
} from './interceptor/dns/options.ts'
export type { DnsFamilyRecords, DnsRecord, DnsRecords } from './interceptor/dns/records.ts'
export type { DnsStorage } from './interceptor/dns/storage.ts'
export type { DumpInterceptorOptions } from './interceptor/dump/interceptor.ts'
export type { GuardInterceptorOptions } from './interceptor/guard/options.ts'
export type { HedgeOptions } from './interceptor/hedge/options.ts'
export type { RedirectContext } from './interceptor/redirect/context.ts'
export { RedirectHandler } from './interceptor/redirect/handler.ts'
export type { AllowRedirect, RedirectOptions, RedirectSource } from './interceptor/redirect/options.ts'
export type { ResponseErrorOptions } from './interceptor/response-error/interceptor.ts'
export { RetryAgent } from './interceptor/retry/agent.ts'
export type { RetryAttempt } from './interceptor/retry/failed-attempts.ts'
export { RetryHandler } from './interceptor/retry/handler.ts'
export type {
  OnRetryCallback,
  RetriedError,
  RetryCallback,
  RetryContext,
  RetryDispatchOptions,
  RetryHandlers,
  RetryOptions,
  RetryState,
} from './interceptor/retry/options.ts'
export type { RetryBudgetOptions } from './interceptor/retry-budget.ts'
export type { ThrottleKey, ThrottleOptions } from './interceptor/throttle/options.ts'
export * as interceptors from './interceptors.ts'
export type {
  FilterCallsObjectCriteria,
  FilterCallsOptions,
  FilterCallsParameter,
} from './mock/history/call-history.ts'
export { MockCallHistory } from './mock/history/call-history.ts'
export type { MockCallHistoryLogProperties } from './mock/history/call-history-log.ts'
export { MockCallHistoryLog } from './mock/history/call-history-log.ts'
export type { BodyMatcher } from './mock/match/body-matcher.ts'
export type { HeadersMatcher } from './mock/match/header-matcher.ts'
export type { MockInterceptorOptions, PendingInterceptor } from './mock/match/interception.ts'
export type { AssertPendingOptions } from './mock/match/pending-table.ts'
export type { TextMatcher } from './mock/match/text-matcher.ts'
export { MockAgent } from './mock/mock-agent.ts'
export type { MockAgentOptions } from './mock/mock-agent-options.ts'
export type { MockClientOptions } from './mock/mock-client.ts'
export { MockClient } from './mock/mock-client.ts'
export * as mockErrors from './mock/mock-errors.ts'
export type { MockInterceptor, MockScope } from './mock/mock-interceptor.ts'
export type { MockPoolOptions } from './mock/mock-pool.ts'
export { MockPool } from './mock/mock-pool.ts'
export type { Interceptable } from './mock/mocking.ts'
export type { MockEvent, MockEvents } from './mock/reply/events-text.ts'
export type {
  InformationalReply,
  MockReplyOptions,
  MockReplyOptionsCallback,
  MockResponseCallbackOptions,
  MockResponseDataHandler,
  MockResponseOptions,
  PendingReply,
  UpgradeAcceptor,
} from './mock/reply/reply.ts'
export type {
  Snapshot,
  SnapshotData,
  SnapshotInfo,
  SnapshotRequest,
  SnapshotResponse,
} from './mock/snapshot/snapshot.ts'
export { SnapshotAgent } from './mock/snapshot/snapshot-agent.ts'
export type {
  SanitizedEntry,
  SnapshotAgentOptions,
  SnapshotMode,
  SnapshotRecorderOptions,
} from './mock/snapshot/snapshot-options.ts'
export type { SnapshotRecorder } from './mock/snapshot/snapshot-recorder.ts'
export type { WireConnection } from './mock/wire/wire-clients.ts'
export type {
  ReplyFault,
  WireAction,
  WireFault,
  WireFrame,
  WireScript,
  WireStep,
} from './mock/wire/wire-step.ts'
export { mockWire } from './mock/wire/wire-step.ts'
export type { Connector, ConnectorCallback, ConnectorOptions, ConnectTarget } from './net/connector.ts'
export { buildConnector } from './net/connector.ts'
export type { BuildConnectorOptions } from './net/connector-options.ts'
export type { HeaderObject } from './protocol/header-block.ts'
export type { EnvHttpProxyAgentOptions } from './proxy/env-http-proxy-agent.ts'
export { EnvHttpProxyAgent } from './proxy/env-http-proxy-agent.ts'
export type { ProxyAgentStats } from './proxy/proxy-agent.ts'
export { ProxyAgent } from './proxy/proxy-agent.ts'
export type { ProxyDecision, ProxyEnvironmentOptions } from './proxy/proxy-environment.ts'
export type { ProxyTokenFunction } from './proxy/proxy-fields.ts'
export type {
  ProxyAgentOptions,
  ProxyChoice,
  ProxyClientFactory,
  ProxyRefusal,
  ProxyResponseFunction,
} from './proxy/proxy-options.ts'
export type { Socks5ProxyAgentOptions } from './proxy/socks5-options.ts'
export type { Socks5ProxyAgentStats } from './proxy/socks5-proxy-agent.ts'
export { Socks5ProxyAgent } from './proxy/socks5-proxy-agent.ts'
export type { CacheControlDirectives } from './relay/cache-control.ts'
export type {
  DispatchController,
  DispatchHandler,
  LegacyDispatchHandler,
} from './request/dispatch-handler.ts'
export type {
  BodyInput,
  DispatchOptions,
  FormDataLike,
  HeadersInput,
  HeaderValueInput,
  HttpMethod,
  TrailersInput,
} from './request/dispatch-options.ts'
export type { CloseEventInit, ErrorEventInit, MessageEventInit } from './web/events.ts'
export { CloseEvent, ErrorEvent, MessageEvent } from './web/events.ts'
export type { BinaryType, WebSocketEventMap } from './websocket/declared-web-socket.ts'
export type { WebSocketInit } from './websocket/socket-init.ts'
export { ping, WebSocket } from './websocket/websocket.ts'
export type { WebSocketCloseInfo, WebSocketErrorInit } from './websocket/websocket-error.ts'
export { WebSocketError } from './websocket/websocket-error.ts'
export type {
  WebSocketChunk,
  WebSocketClosure,
  WebSocketConnectionInfo,
  WebSocketStreamOptions,
} from './websocket/websocket-stream.ts'
export { WebSocketStream } from './websocket/websocket-stream.ts'
