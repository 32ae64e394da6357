/** The surface without the parts that have an entry of their own: clients, pools, `request()` and its siblings, errors. */

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
export type { ContentErrorContext } from './body/content-error.ts'
export type { DumpOptions } from './body/dump.ts'
export type { BodyMixin, BodyReadable } from './body/readable.ts'
export type { DiagnosticsChannel } from './diagnostics-messages.ts'
export type { AgentDispatchOptions, AgentFactory, AgentOptions } from './dispatcher/agent.ts'
export { Agent } from './dispatcher/agent.ts'
export type { ClientStats } from './dispatcher/client.ts'
export { Client } from './dispatcher/client.ts'
export type { ClientOptions, ConnectFunction } from './dispatcher/client-options.ts'
export type { Dispatch, Interceptor } from './dispatcher/compose.ts'
export type { ConnectionSnapshot, ConnectionSnapshotState } from './dispatcher/connection-snapshot.ts'
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
export type { UrlInput, UrlParts, WithUrl } from './global/global-api.ts'
export { connect, pipeline, request, stream, upgrade } from './global/global-api.ts'
export { getGlobalDispatcher, setGlobalDispatcher } from './global/global-dispatcher.ts'
export type { GuardOptions, GuardPolicy, GuardTarget } from './guard/options.ts'
export { DecoratorHandler } from './handler/decorator-handler.ts'
export * as util from './handler/raw-headers.ts'
export type { Connector, ConnectorCallback, ConnectorOptions, ConnectTarget } from './net/connector.ts'
export { buildConnector } from './net/connector.ts'
export type { BuildConnectorOptions } from './net/connector-options.ts'
export type { HeaderObject } from './protocol/header-block.ts'
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
