/** The public surface: re-exports, by name and together as the default export. */
import { deleteCookie, getCookies, getSetCookies, parseCookie, setCookie } from './cookies/api.ts'
import { Client } from './dispatcher/client.ts'
import { Dispatcher } from './dispatcher/dispatcher.ts'
import { H2CClient } from './dispatcher/h2c-client.ts'
import * as errors from './errors.ts'
import { DecoratorHandler } from './handler/decorator-handler.ts'
import { buildConnector } from './net/connector.ts'

export type { BodyReadable } from './api/body-readable.ts'
export type { ConnectData, ConnectOptions } from './api/connect.ts'
export type { PipelineHandlerData, PipelineOptions } from './api/pipeline.ts'
export type { RequestOptions, ResponseData } from './api/request.ts'
export type { StreamData, StreamFactoryData, StreamOptions } from './api/stream.ts'
export type { UpgradeData, UpgradeOptions } from './api/upgrade.ts'
export type { Cookie } from './cookies/cookie.ts'
export type { ClientStats } from './dispatcher/client.ts'
export type { ClientOptions } from './dispatcher/client-options.ts'
export type { Dispatch, Interceptor } from './dispatcher/compose.ts'
export type { H2CClientOptions, H2CConnectOptions } from './dispatcher/h2c-client.ts'
export type { WebSocketOptions } from './dispatcher/lifecycle.ts'
export type { RequestErrorContext, RequestPhase, RetrySafety, SocketInfo, Timings } from './errors.ts'
export type { BuildConnectorOptions, Connector, ConnectorOptions } from './net/connector.ts'
export type { HeaderObject } from './protocol/header-block.ts'
export type {
  DispatchController,
  DispatchHandler,
  LegacyDispatchHandler,
} from './request/dispatch-handler.ts'
export type { BodyInput, DispatchOptions, HeadersInput } from './request/dispatch-options.ts'
export {
  buildConnector,
  Client,
  DecoratorHandler,
  Dispatcher,
  deleteCookie,
  errors,
  getCookies,
  getSetCookies,
  H2CClient,
  parseCookie,
  setCookie,
}

const ventuno: {
  readonly Client: typeof Client
  readonly H2CClient: typeof H2CClient
  readonly Dispatcher: typeof Dispatcher
  readonly DecoratorHandler: typeof DecoratorHandler
  readonly buildConnector: typeof buildConnector
  readonly errors: typeof errors
  readonly deleteCookie: typeof deleteCookie
  readonly getCookies: typeof getCookies
  readonly getSetCookies: typeof getSetCookies
  readonly parseCookie: typeof parseCookie
  readonly setCookie: typeof setCookie
} = {
  Client,
  H2CClient,
  Dispatcher,
  DecoratorHandler,
  buildConnector,
  errors,
  deleteCookie,
  getCookies,
  getSetCookies,
  parseCookie,
  setCookie,
}

export default ventuno
