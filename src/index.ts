/** The public surface: re-exports, by name and together as the default export. */
import { deleteCookie, getCookies, getSetCookies, parseCookie, setCookie } from './cookies/api.ts'
import { Agent } from './dispatcher/agent.ts'
import { BalancedPool } from './dispatcher/balanced-pool.ts'
import { Client } from './dispatcher/client.ts'
import { Dispatcher } from './dispatcher/dispatcher.ts'
import { Dispatcher1Wrapper } from './dispatcher/dispatcher1-wrapper.ts'
import { getGlobalDispatcher, setGlobalDispatcher } from './dispatcher/global.ts'
import { connect, pipeline, request, stream, upgrade } from './dispatcher/global-api.ts'
import { H2CClient } from './dispatcher/h2c-client.ts'
import { Pool } from './dispatcher/pool.ts'
import { RoundRobinPool } from './dispatcher/round-robin-pool.ts'
import * as errors from './errors.ts'
import {
  FormData,
  fetch,
  getGlobalOrigin,
  Headers,
  Request,
  Response,
  setGlobalOrigin,
} from './fetch/index.ts'
import { DecoratorHandler } from './handler/decorator-handler.ts'
import { install } from './install.ts'
import { buildConnector } from './net/connector.ts'
import { CloseEvent, ErrorEvent, MessageEvent } from './websocket/events.ts'
import { ping, WebSocket } from './websocket/websocket.ts'

export type { ApiOptions, InfoCallback, InfoData } from './api/api-handler.ts'
export type { BodyMixin, DumpOptions } from './api/body-mixin.ts'
export type { BodyReadable } from './api/body-readable.ts'
export type { ConnectCallback, ConnectData, ConnectOptions } from './api/connect.ts'
export type { PipelineHandlerData, PipelineHandlerFunction, PipelineOptions } from './api/pipeline.ts'
export type { RawRequestOptions, RequestCallback, RequestOptions, ResponseData } from './api/request.ts'
export type {
  StreamCallback,
  StreamData,
  StreamFactory,
  StreamFactoryData,
  StreamOptions,
} from './api/stream.ts'
export type { UpgradeCallback, UpgradeData, UpgradeOptions } from './api/upgrade.ts'
export type { Cookie } from './cookies/cookie.ts'
export type { AgentDispatchOptions, AgentFactory, AgentOptions } from './dispatcher/agent.ts'
export type { BalancedPoolOptions, UpstreamFactory } from './dispatcher/balanced-pool.ts'
export type { ClientStats } from './dispatcher/client.ts'
export type { ClientOptions, ConnectFunction } from './dispatcher/client-options.ts'
export type { Dispatch, Interceptor } from './dispatcher/compose.ts'
export type { CloseCallback, DispatcherEvents } from './dispatcher/dispatcher.ts'
export type { DispatcherLike } from './dispatcher/dispatcher1-wrapper.ts'
export type { UrlInput, UrlParts, WithUrl } from './dispatcher/global-api.ts'
export type { H2CClientOptions, H2CConnectOptions } from './dispatcher/h2c-client.ts'
export type { Http2Options, Http2SettingsOptions } from './dispatcher/http2-options.ts'
export type { WebSocketOptions } from './dispatcher/lifecycle.ts'
export type { PoolFactory, PoolOptions } from './dispatcher/pool-options.ts'
export type { PoolStats } from './dispatcher/stats.ts'
export type { RequestErrorContext, RequestPhase, RetrySafety, SocketInfo, Timings } from './errors.ts'
export type {
  BodyInit,
  HeadersInit,
  RequestInfo,
  RequestInit,
  RequestInitWithDispatcher,
  ResponseInit,
} from './fetch/index.ts'
export type {
  BuildConnectorOptions,
  Connector,
  ConnectorCallback,
  ConnectorOptions,
  ConnectTarget,
} from './net/connector.ts'
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
} from './request/dispatch-options.ts'
export type { CloseEventInit, ErrorEventInit, MessageEventInit } from './websocket/events.ts'
export type { BinaryType, WebSocketEventMap, WebSocketInit } from './websocket/websocket.ts'
export {
  Agent,
  BalancedPool,
  buildConnector,
  Client,
  CloseEvent,
  connect,
  DecoratorHandler,
  Dispatcher,
  Dispatcher1Wrapper,
  deleteCookie,
  ErrorEvent,
  errors,
  FormData,
  fetch,
  getCookies,
  getGlobalDispatcher,
  getGlobalOrigin,
  getSetCookies,
  H2CClient,
  Headers,
  install,
  MessageEvent,
  Pool,
  parseCookie,
  ping,
  pipeline,
  Request,
  Response,
  RoundRobinPool,
  request,
  setCookie,
  setGlobalDispatcher,
  setGlobalOrigin,
  stream,
  upgrade,
  WebSocket,
}

const ventuno: {
  readonly Agent: typeof Agent
  readonly BalancedPool: typeof BalancedPool
  readonly buildConnector: typeof buildConnector
  readonly Client: typeof Client
  readonly CloseEvent: typeof CloseEvent
  readonly connect: typeof connect
  readonly DecoratorHandler: typeof DecoratorHandler
  readonly Dispatcher: typeof Dispatcher
  readonly Dispatcher1Wrapper: typeof Dispatcher1Wrapper
  readonly deleteCookie: typeof deleteCookie
  readonly ErrorEvent: typeof ErrorEvent
  readonly errors: typeof errors
  readonly FormData: typeof FormData
  readonly fetch: typeof fetch
  readonly getCookies: typeof getCookies
  readonly getGlobalDispatcher: typeof getGlobalDispatcher
  readonly getGlobalOrigin: typeof getGlobalOrigin
  readonly getSetCookies: typeof getSetCookies
  readonly H2CClient: typeof H2CClient
  readonly Headers: typeof Headers
  readonly install: typeof install
  readonly MessageEvent: typeof MessageEvent
  readonly Pool: typeof Pool
  readonly parseCookie: typeof parseCookie
  readonly ping: typeof ping
  readonly pipeline: typeof pipeline
  readonly Request: typeof Request
  readonly Response: typeof Response
  readonly RoundRobinPool: typeof RoundRobinPool
  readonly request: typeof request
  readonly setCookie: typeof setCookie
  readonly setGlobalDispatcher: typeof setGlobalDispatcher
  readonly setGlobalOrigin: typeof setGlobalOrigin
  readonly stream: typeof stream
  readonly upgrade: typeof upgrade
  readonly WebSocket: typeof WebSocket
} = {
  Agent,
  BalancedPool,
  buildConnector,
  Client,
  CloseEvent,
  connect,
  DecoratorHandler,
  Dispatcher,
  Dispatcher1Wrapper,
  deleteCookie,
  ErrorEvent,
  errors,
  FormData,
  fetch,
  getCookies,
  getGlobalDispatcher,
  getGlobalOrigin,
  getSetCookies,
  H2CClient,
  Headers,
  install,
  MessageEvent,
  Pool,
  parseCookie,
  ping,
  pipeline,
  Request,
  Response,
  RoundRobinPool,
  request,
  setCookie,
  setGlobalDispatcher,
  setGlobalOrigin,
  stream,
  upgrade,
  WebSocket,
}

export default ventuno
